"""When the program's own limits of time ran out: against what came from outside, that is an order of its own.

`asyncio.timeout`, `wait_for`, `asyncio.wait(timeout=)`, anyio's scopes, `loop.call_later`: all set a timer of
the loop, on behalf of the code that called them. Those of libraries' code keep to the loop's time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from lctl.instrument.ambient import callers, reads, slots
from lctl.session import border
from lctl.session.concurrency import lanes
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.underway import Moment

if TYPE_CHECKING:
    from lctl.session import LCTLSession

SOURCE = "timer"
#: What sets timers for its caller.
_BETWEEN = frozenset({"anyio", "async_timeout", "asyncio", "contextlib", "lctl"})
#: Where our own sleep is made, which is recorded as such; and where a rerun waits, which no recording does.
_OURS = frozenset({"lctl.instrument.ambient.sleeps", "lctl.session.concurrency.latetasks"})
#: Seconds after which one goes off in a rerun that did not in the recording: when nothing else is to come.
_LAST = 1e7


def install() -> None:
    from lctl.instrument.hooks import on_import

    slots.on_undo(on_import("asyncio.base_events", _asyncio).remove)


def _asyncio(module: ModuleType) -> None:
    if reads.active():
        loop: Any = module.BaseEventLoop
        slots.replace(loop, "call_at", _timed(loop.call_at))


def _timed(real: Callable[..., Any]) -> Callable[..., Any]:
    def call_at(loop: Any, when: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        lane = lanes.current()
        if lane.tool is not None or not reads.active() or owner(sys._getframe(1)) is None:
            return real(loop, when, callback, *args, context=context)
        session = reads.session_here()
        if session is None:
            return real(loop, when, callback, *args, context=context)
        number = lane.number(SOURCE)
        fired = _fired(session, lane, number, callback)
        player = border.player()
        if player is None:
            return real(loop, when, fired, *args, context=context)
        handle = sys.modules["asyncio.events"].TimerHandle(when, fired, args, loop, context)
        goes_off = player.timer(lane, number, handle)
        if goes_off:
            return handle
        later = 0.0 if goes_off is None else _LAST
        return real(loop, when + later, fired, *args, context=context)

    return slots.like(call_at, real)


def owner(frame: FrameType | None) -> FrameType | None:
    """Where the program's own code sets a timer in `frame`; None where that is none of its, or of a sleep."""
    is_ours = False
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] not in _BETWEEN:
            is_own = not is_ours and callers.kind_of(frame.f_code.co_filename) == callers.OWN
            return frame if is_own else None
        is_ours = is_ours or name in _OURS
        frame = frame.f_back
    return None


def _fired(session: LCTLSession, lane: Lane, number: int, callback: Callable[..., Any]) -> Callable[..., Any]:
    def fired(*args: Any) -> Any:
        _note(session, lane, number)
        return callback(*args)

    return fired


def _note(session: LCTLSession, lane: Lane, number: int) -> None:
    place = lanes.enter(lane)
    try:
        moment = Moment.of(lane.path, session.under_way.reading())
        moment.arrive()
        made: dict[str, Any] = {"source": SOURCE, "key": "call_at", "value": number}
        made |= session.under_way.fields(moment, True)
        session.record_read(session.agent, made, None)  # of no step: who set it may be in another by now
    except Exception as error:
        reads.failed("a timer", error)
    finally:
        lanes.leave(place)
