"""Signals from outside that the program's own handlers hear: each an `ambient` event, where it was heard.

In a rerun nobody sends them: they come again, each in its turn (`lctl.rerun.serving.heard`). Not so what the
program sends itself, or has the system send (timers, the end of a child), which comes again by itself; nor
what ends a server that somebody has asked something (`lctl.instrument.ambient.requests`).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextvars import Context
from enum import Enum, auto
from types import FrameType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from lctl.clock import monotonic
from lctl.guard import guard
from lctl.instrument.ambient import callers, identifiers, places, reads, slots
from lctl.interrupts import step_out
from lctl.session.concurrency import arrivals, heardsignals, lanes
from lctl.session.sources import HEARD

#: What others send to have a program do something.
_NAMES = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
NUMBERS = frozenset(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
#: Seconds after which what the program sent itself is taken to have been heard.
_SOON = 1.0
_PLACE = "a signal that the program heard"

#: Ctrl-C as Python takes it (`lctl.instrument.ambient.inputs`).
_PYTHONS = (signal.default_int_handler,)

#: When the program sent itself each, of those that have not been heard.
_sent: dict[int, list[float]] = {int(number): [] for number in NUMBERS}
#: Those that the program's own code has an event loop hear.
_of_loops: WeakKeyDictionary[Any, set[int]] = WeakKeyDictionary()


class Handler:
    """In place of a handler. Python calls that itself, with no frame of ours between: what is called is what
    `__call__` gives."""

    def __init__(self, number: int, handler: Callable[..., Any]) -> None:
        self.number = number
        self.handler = handler

    @property
    def __call__(self) -> Callable[..., Any]:
        comes = _coming(self.number)
        if comes is _Coming.BESIDE:
            return _nothing
        if comes is _Coming.FROM_OUTSIDE:
            if lanes.current().tool is not None:
                return self._out_of_tool
            _tell(self.number, sys._getframe(1))
        return self.handler

    def _out_of_tool(self, *args: Any) -> Any:
        """What interrupts a tool's body is not of it: a rerun has its result, and does not run it. Where that
        ends by an exception of the handler's, this is what the tool did."""
        lane = lanes.current()
        while lane.tool is not None and lane.parent is not None:
            lane = lane.parent
        token = lanes.enter(lane)
        try:
            given = self.handler(*args)
            _tell(self.number)
        finally:
            lanes.leave(token)
        return given


def _nothing(*_: Any) -> None:
    """It is no signal of the recording's."""


def plain(handler: Any) -> Any:
    """What the program has given."""
    return handler.handler if isinstance(handler, Handler) else handler


def install() -> None:
    if os.name != "posix":
        return
    slots.replace(signal, "signal", _setting(signal.signal))
    slots.replace(signal, "getsignal", _getting(signal.getsignal))
    slots.replace_builtin(os, "kill", _sending(identifiers.is_own))
    slots.replace_builtin(os, "killpg", _sending(lambda group: group in (0, os.getpgrp())))
    slots.replace_builtin(signal, "pthread_kill", _sending(lambda _: True))
    slots.replace_builtin(signal, "raise_signal", _raising)
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("asyncio.unix_events", _asyncio).remove)


def _setting(real: Callable[..., Any]) -> Callable[..., Any]:
    def set_handler(signalnum: Any, handler: Any) -> Any:
        given = handler
        is_own = signalnum in NUMBERS and callable(handler) and handler not in _PYTHONS
        if is_own and _is_kept(sys._getframe(1)):
            given = Handler(int(signalnum), handler)
        return plain(real(signalnum, given))

    return slots.like(set_handler, real)


def _is_kept(caller: FrameType) -> bool:
    """Whether the program's own code handles it, and does so in a rerun, which does not run tools' bodies."""
    return reads.active() and lanes.current().tool is None and callers.own(caller) is not None


def _getting(real: Callable[..., Any]) -> Callable[..., Any]:
    def getsignal(signalnum: Any) -> Any:
        return plain(real(signalnum))

    return slots.like(getsignal, real)


def _sending(is_here: Callable[[Any], bool]) -> Callable[[Any], Callable[..., Any]]:
    def make(original: Any) -> Callable[..., Any]:
        def send(_: Any, to: Any, number: Any, /) -> Any:
            if number in NUMBERS and is_here(to):
                _sent[int(number)].append(monotonic())
            try:
                return original(to, number)
            except BaseException as error:  # also what the handler raises
                step_out(error)
                raise

        return send

    return make


def _raising(original: Any) -> Callable[..., Any]:
    def send(_: Any, number: Any, /) -> Any:
        if number in NUMBERS:
            _sent[int(number)].append(monotonic())
        try:
            return original(number)
        except BaseException as error:
            step_out(error)
            raise

    return send


def _asyncio(module: ModuleType) -> None:
    loop = module._UnixSelectorEventLoop

    def add_signal_handler(self: Any, sig: Any, callback: Any, *args: Any) -> None:
        if sig in NUMBERS and _is_kept(sys._getframe(1)):
            _of_loops.setdefault(self, set()).add(int(sig))
        else:
            _of_loops.get(self, set()).discard(sig)
        adding(self, sig, callback, *args)

    def _handle_signal(self: Any, sig: Any) -> None:
        comes = _coming(sig) if sig in _of_loops.get(self, ()) else _Coming.BY_ITSELF
        if comes is _Coming.BESIDE:
            return
        if comes is _Coming.FROM_OUTSIDE:
            _tell(sig)
        handling(self, sig)

    adding, handling = loop.add_signal_handler, loop._handle_signal
    if reads.active():
        slots.replace(loop, "add_signal_handler", slots.like(add_signal_handler, adding))
        slots.replace(loop, "_handle_signal", slots.like(_handle_signal, handling))


class _Coming(Enum):
    """How one came that the program handles."""

    FROM_OUTSIDE = auto()
    BY_ITSELF = auto()
    #: In a rerun: it is none of those that come again.
    BESIDE = auto()


def _coming(number: int) -> _Coming:
    try:
        if not reads.active() or _is_by_itself(number):
            return _Coming.BY_ITSELF
        if heardsignals.is_beside(number):
            return _Coming.BESIDE
    except Exception as error:
        reads.failed(_PLACE, error)
    return _Coming.FROM_OUTSIDE


def _tell(number: int, frame: FrameType | None = None) -> None:
    """Record it.

    Args:
        frame: what it interrupted, where that runs again in a rerun.
    """
    try:
        comes = heardsignals.coming[number]
        place = comes.popleft() if comes else frame and _place(frame)
        if not arrivals.any_told:
            Context().run(_note, signal.Signals(number).name, place)
    except Exception as error:
        reads.failed(_PLACE, error)


def _is_by_itself(number: int) -> bool:
    """Whether the program has sent it. The system makes one of several that are sent at once."""
    sent, now = _sent[number], monotonic()
    sent[:] = [at for at in sent if now - at < _SOON]
    return bool(sent) and sent.pop() > 0.0


def _place(frame: FrameType) -> str | None:
    """Where the program's own code computed as it came; None where it waited in what it had called."""
    here = callers.own(frame)
    return places.name(frame.f_code.co_filename, frame.f_lineno) if here is frame else None


def _note(name: str, place: str | None) -> None:
    guard.rehearse(_PLACE)
    session = reads.session_here()
    if session is not None:
        lanes.enter(heardsignals.LANE)
        made = {"source": HEARD, "key": name, "value": None, "lane": heardsignals.LANE.path}
        if place is not None:
            made["place"] = place
        session.emit("ambient", {**made, "at": session.under_way.now()})
