"""Functions run elsewhere, in the step that was current where they were handed in, and in another lane."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple, cast

from lctl.session.concurrency import lanes, pooljobs, spawning, turns
from lctl.session.concurrency.lane import Lane
from lctl.session.runs import context, told
from lctl.session.runs.told import Told
from lctl.session.runs.wrappedruns import step_aside

_job = threading.local()
_is_asked = True


class Asker(NamedTuple):
    """What is left of the frame of who handed a job in, as far as it is asked whose code it is."""

    f_code: CodeType
    f_lineno: int
    f_globals: dict[str, Any]
    f_back: None = None


class Origin(NamedTuple):
    """Where something was handed in: the step, the call that a framework told of, and whose code did it."""

    step: context.Frame | None
    call: Told | None
    asker: Asker | None = None


def here() -> Origin:
    frame = spawning.starter()
    asker = None if frame is None else Asker(frame.f_code, frame.f_lineno, frame.f_globals)
    return Origin(context.current(), told.current.get(), asker)


def set_recorded(value: object) -> None:
    """Whether the recording that runs again has what functions of libraries read that were handed in."""
    global _is_asked
    _is_asked = bool(value)


def asked(frame: FrameType) -> FrameType | None:
    """For whom `frame` runs: where it is that of a job's beginning, who handed that in (`Path.read_text`, to
    `asyncio.to_thread`); else itself."""
    if frame.f_code is not _CARRIED:
        return frame
    return cast("FrameType | None", getattr(_job, "asker", None)) if _is_asked else None


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
    frame, call, asker = here() if origin is None else origin
    there = lanes.current() if lane is None else lane

    def carried(*args: Any, **kwargs: Any) -> Any:
        token = context.enter(frame)
        was = told.current.set(call)
        place = lanes.enter(there)
        before = lanes.own(there)
        outer, _job.asker = getattr(_job, "asker", None), asker
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
                _job.asker = outer
                lanes.own(before)
                lanes.leave(place)
                told.current.reset(was)
                context.leave(token)

    return carried


_CARRIED = next(one for one in carry.__code__.co_consts if isinstance(one, CodeType))


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
