"""Functions run elsewhere, in the step that was current where they were handed in, and in another lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lctl.session.concurrency import lanes, pooljobs, turns
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context, told
from lctl.session.runs.told import Told
from lctl.session.runs.wrappedruns import step_aside


class Origin(NamedTuple):
    """Where something was handed in: the step, and the call that a framework told of."""

    step: context.Frame | None
    call: Told | None


def here() -> Origin:
    return Origin(context.current(), told.current.get())


def carry(
    function: Callable[..., Any],
    lane: Lane | None = None,
    job: pooljobs.Job | None = None,
    origin: Origin | None = None,
) -> Callable[..., Any]:
    """`function`, running in the step that is current now and in `lane` (the current one if None).

    Args:
        job: it is this one, whose end is to be told.
        origin: it was handed in there, and not here.
    """
    frame, call = here() if origin is None else origin
    there = lanes.current() if lane is None else lane

    def carried(*args: Any, **kwargs: Any) -> Any:
        token = context.enter(frame)
        was = told.current.set(call)
        place = lanes.enter(there)
        before = lanes.own(there)
        if turns.active:
            turns.job(there)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            step_aside(error)
            raise
        finally:
            try:
                if job is not None:
                    _end(job, there)
            finally:
                lanes.own(before)
                lanes.leave(place)
                told.current.reset(was)
                context.leave(token)

    return carried


def begun(lane: Lane, is_heard: bool = False) -> pooljobs.Job | None:
    """What a job counts as; None where its end tells nothing: of a library's own, or a tool's, which has
    events.

    Args:
        is_heard: another thread is to hear of its end, even where no event loop runs.
    """
    if not lane.index or lane.tool is not None:
        return None
    loop = turns.running() is not None
    if loop and turns.is_first():
        turns.counted_from.append(lane.path)
    return pooljobs.begin(loop or is_heard)


def _end(job: pooljobs.Job, lane: Lane) -> None:
    from lctl.session import default  # which needs this module

    kept = default.pool_jobs()
    if kept is None:
        pooljobs.forget(job)
    else:
        kept.end(job, lane)
