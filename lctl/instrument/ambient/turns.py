"""Turns of event loops are counted, and it is noted when a thread's result reached a loop.

What a thread hands to a loop (`asyncio.to_thread`, `run_in_executor`, anyio's threads) comes between the
answers that the loop itself waits for, and in a rerun must come there again.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lctl.instrument.ambient import reads, slots
from lctl.session.concurrency import lanes, turns
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.underway import Moment

if TYPE_CHECKING:
    from lctl.session import LCTLSession

SOURCE = "wake"


def install() -> None:
    from lctl.instrument.hooks import on_import

    turns.active = True
    slots.on_undo(_forget)
    slots.on_undo(on_import("asyncio.base_events", _asyncio).remove)


def _forget() -> None:
    turns.active = False
    turns.stop()
    turns.crossed.clear()


def _asyncio(module: ModuleType) -> None:
    if reads.active():
        loop: Any = module.BaseEventLoop
        turns.count(all=not _has_loop())
        slots.replace(loop, "call_soon_threadsafe", _noting(loop.call_soon_threadsafe))


def _has_loop() -> bool:
    """Whether this thread has a loop already, which may have run: `auto_instrument(record="full")` is called
    when the program has begun."""
    policy = getattr(sys.modules.get("asyncio.events"), "_event_loop_policy", None)
    kept = getattr(getattr(policy, "_local", None), "_loop", None)
    return kept is not None or turns.running() is not None


def _noting(real: Callable[..., Any]) -> Callable[..., Any]:
    def call_soon_threadsafe(loop: Any, callback: Callable[..., Any], *args: Any, **options: Any) -> Any:
        if args and turns.is_closing(args[0]):
            return real(loop, callback, *args, **options)
        # Within a tool's body it orders nothing that a rerun does: the call is served as a whole.
        lane = turns.job_in(callback, args)
        here = turns.running()
        if here is not loop:
            crossed = turns.crossed.get(get_ident())
            # Where another loop runs, each task's own lane is current, whatever the thread did before.
            at = None if crossed is None or here is not None else crossed.path
            if lane is not None or not lanes.in_body(at):
                turns.crossed.pop(get_ident(), None)
                lane = lane or crossed
        if lane is not None and lane.tool is None and reads.active():
            callback = _noted(callback, lane)
        return real(loop, callback, *args, **options)

    return slots.like(call_soon_threadsafe, real)


def _noted(callback: Callable[..., Any], lane: Lane) -> Callable[..., Any]:
    session = reads.session_here()
    if session is None:
        return callback

    def woken(*args: Any) -> Any:
        _note(session, lane)
        return callback(*args)

    return woken


def _note(session: LCTLSession, lane: Lane) -> None:
    place = lanes.enter(lane)  # of a tool's body it is part of: a rerun that serves the tool has none
    try:
        moment = Moment.of(lane.path, session.under_way.reading())
        moment.arrive()
        made: dict[str, Any] = {"source": SOURCE, "key": "call_soon_threadsafe"}
        made |= session.under_way.fields(moment, True)
        session.record_read(session.agent, made, None)  # of no step: whose the thread was by then is chance
    except Exception as error:
        reads.failed("a thread's result", error)
    finally:
        lanes.leave(place)
