"""When the program's own sleeps ended: against what came from outside, that is an order of its own."""

from __future__ import annotations

import sys
import time
from types import FrameType, ModuleType, TracebackType
from typing import Any

from lctl.instrument import waitedreads
from lctl.instrument.ambient import callers, places, reads, slots
from lctl.interrupts import lines_of_handler
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.runs.wrappedruns import step_aside

SOURCE = "sleep"


def install() -> None:
    slots.replace_builtin(time, "sleep", _sleeping)
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("asyncio.tasks", _asyncio).remove)
    slots.on_undo(on_import("asyncio", _asyncio).remove)


def _asyncio(module: ModuleType) -> None:
    if reads.active():
        slots.replace(module, "sleep", _sleeping_async(module.sleep))


def _sleeping(real: Any) -> Any:
    def sleep(_: Any, seconds: Any, /) -> Any:
        slept = None
        has_slept = False
        try:
            frame = callers.own(sys._getframe(1)) if seconds else None
            if frame is not None and reads.active():
                slept = Sleep("time.sleep", seconds, frame)
            if slept is None:
                real(seconds)
            elif not slept.served():
                real(seconds)
                while slept.goes_on():
                    real(seconds)
            has_slept = True
            return None if slept is None else slept.over()
        except BaseException as error:
            if slept is not None and not has_slept:
                slept.over(cancelled=True)
            error.__traceback__ = _below(error.__traceback__)
            raise

    return sleep


def _below(trace: TracebackType | None) -> TracebackType | None:
    """The lines of what was called, or of a signal's handler that did not let the recording go on."""
    below = None if trace is None else trace.tb_next
    ours = below is not None and callers.is_lctl(below.tb_frame.f_code.co_filename)
    return lines_of_handler(below) if ours else below


def _sleeping_async(real: Any) -> Any:
    async def sleep(delay: Any, result: Any = None) -> Any:
        caller = callers.own(sys._getframe(1)) if delay > 0 else None
        if caller is None or not reads.active():
            return await real(delay, result)
        slept = Sleep("asyncio.sleep", delay, caller)
        try:
            if not await slept.served_async():
                await real(delay)
                while slept.goes_on():
                    await real(delay)
        except BaseException as error:
            slept.over(cancelled=True)
            step_aside(error)
            raise
        slept.over()
        return result

    return slots.like(sleep, real)


class Sleep:
    """One sleep of the program's code in `frame`, or wait for a key: an `ambient` event when it is over."""

    def __init__(self, key: str, seconds: float, frame: FrameType | None = None) -> None:
        self._key = key
        self._seconds = seconds
        self._place = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        self._lane = lanes.current()
        self._number = self._lane.number(SOURCE)
        self._session = reads.session_here()
        if self._session is not None:
            self._moment = self._session.under_way.begin()

    def served(self) -> bool:
        """Whether its end came from the tape."""
        player = border.player()
        return player is not None and player.sleep(self._lane, self._number)

    async def served_async(self) -> bool:
        player = border.player()
        return player is not None and await player.sleep_async(self._lane, self._number)

    def goes_on(self) -> bool:
        """Whether one that is not on the tape does, which is over."""
        player = border.player()
        return player is not None and player.slept(self._lane, self._number)

    def over(self, cancelled: bool = False) -> None:
        session = self._session
        if session is None:
            return
        try:
            data: dict[str, Any] = {"source": SOURCE, "key": self._key, "value": self._seconds}
            if self._place is not None:
                data["place"] = places.name(*self._place)
            waitedreads.write(session, self._moment, data, cancelled=cancelled, always=True)
        except Exception as error:
            reads.failed("a sleep", error)
