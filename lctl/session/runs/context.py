"""Which session, step and agent the running code belongs to.

One context variable holds a `Frame`. It is copied into tasks by asyncio and into threads and executors
by `carrying.carry`, so events recorded anywhere find the step they belong to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import CodeType, FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

#: Of a code object's flags: it is a generator's.
GENERATOR = 0x20 | 0x200  # CO_GENERATOR, CO_ASYNC_GENERATOR (inspect costs 10 ms to import)


class Frame:
    """A place in the step tree.

    Attributes:
        step: the seq of the step_start, None at the session's top.
        open: False once the step has ended, wherever that happened: the frame is then passed over.
        started_ns: monotonic reading at its start.
        inside: the generator whose body entered the step; its consumer is not in the step.
        failed: mark of the exception a step inside this one has recorded (see `steps.mark_of`).
    """

    __slots__ = ("agent", "failed", "inside", "open", "parent", "session", "started_ns", "step")

    def __init__(
        self,
        session: LCTLSession,
        step: int | None,
        agent: str,
        parent: Frame | None,
        inside: tuple[int, CodeType] | None = None,
    ) -> None:
        self.session = session
        self.step = step
        self.agent = agent
        self.parent = parent
        self.open = True
        self.started_ns = 0
        self.inside = inside
        self.failed: tuple[int, type, int, int] | None = None


_current: ContextVar[Frame | None] = ContextVar("lctl_frame", default=None)
_get = _current.get


def current() -> Frame | None:
    """The innermost open frame the running code is in."""
    frame = _get()
    while frame is not None and (not frame.open or (frame.inside is not None and not _running(frame.inside))):
        frame = frame.parent
    return _located(frame) if locators else frame


#: The frame that is current whatever is located.
_pinned: ContextVar[Frame | None] = ContextVar("lctl_pinned", default=None)


@contextmanager
def pinned(frame: Frame) -> Iterator[None]:
    """Run the block in `frame`, whatever a framework's variables say."""
    token, pin = _current.set(frame), _pinned.set(frame)
    try:
        yield
    finally:
        leave(token)
        try:
            _pinned.reset(pin)
        except ValueError:
            pass


#: Each gives the frame of the running code by what a framework's own variables say of it, or None.
locators: list[Callable[[], Frame | None]] = []


def _located(frame: Frame | None) -> Frame | None:
    """The innermost of `frame` and what is located: where neither is in the other, the one begun later."""
    if frame is not None and _pinned.get() is frame:
        return frame
    for locate in locators:
        found = locate()
        while found is not None and not found.open:
            found = found.parent
        if found is None or found is frame or _is_in(frame, found):
            continue
        if frame is None or _is_in(found, frame) or _is_later(found, frame):
            frame = found
    return frame


def _is_in(frame: Frame | None, outer: Frame) -> bool:
    while frame is not None:
        if frame is outer:
            return True
        frame = frame.parent
    return False


def _is_later(found: Frame, frame: Frame) -> bool:
    return found.session is frame.session and (found.step or 0) > (frame.step or 0)


#: What the context variable holds, for handing it to a thread.
raw = _current.get


#: Make a frame current; a token for `leave`.
enter = _current.set


def leave(token: Token[Frame | None]) -> None:
    """Restore what was current before `enter`; harmless from another context than the one entered."""
    try:
        _current.reset(token)
    except ValueError:  # ended in another task or thread than it began in
        pass


#: The same, for good.
set_current: Callable[[Frame | None], object] = _current.set


def generator_of(caller: FrameType) -> tuple[int, CodeType] | None:
    """The generator whose body `caller` is, or None.

    A generator that contextlib drives is no loop: what it enters is meant for its `with` block.
    The Python frame is named, not held: holding it would keep an abandoned generator alive.
    """
    if not caller.f_code.co_flags & GENERATOR:
        return None
    driver = caller.f_back
    if driver is not None and driver.f_globals.get("__name__") == "contextlib":
        return None
    return id(caller), caller.f_code


def _running(inside: tuple[int, CodeType]) -> bool:
    number, code = inside
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code is code and id(frame) == number:
            return True
        frame = frame.f_back
    return False
