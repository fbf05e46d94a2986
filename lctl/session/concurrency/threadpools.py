"""Tasks of multiprocessing's pools run in lanes of who handed them in, whichever worker takes them: those of
`ThreadPool` do; those of processes only have such a lane, by which they are known (`workers`).

A task of `apply` has the lane of its call; each of `map` and `imap` has one below it. A thread of the pool
hands them to the workers, and another one what came of them to the program, callbacks included: in the order
of the tasks' ends, which in a rerun is the recorded one (`lctl.session.concurrency.pooljobs`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from lctl.guard import guard
from lctl.session.concurrency import carrying, pooljobs, spawning, workers
from lctl.session.concurrency.lane import Lane

MODULE = "multiprocessing.pool"
#: Where the result of a call has its `_Call`.
_CALL = "_lctl_call"
#: Or its `_Jobs`.
_JOBS = "_lctl_jobs"
_PLACE = "a task of a pool"


class _Call:
    """What the program handed to a pool.

    Args:
        is_one: it is a single task, in the lane of the call.

    Attributes:
        tasks: that have begun, by their numbers, and nobody knows the end of.
    """

    __slots__ = ("_job", "_lane", "_one", "_origin", "tasks")

    def __init__(self, lane: Lane, is_one: bool) -> None:
        self._lane = lane
        self._one = is_one
        self._origin = carrying.here()
        # Before the first task: of several, none is alone, however soon they are over.
        self._job = carrying.begun(lane, is_heard=True)
        self.tasks: dict[int, tuple[pooljobs.Job, Lane]] = {}

    def place(self, number: int, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of the task `number`, in its lane."""
        lane = self._lane if self._one else self._lane.spawn()
        job = self._job if self._one else carrying.begun(lane, is_heard=True)
        if job is not None:
            self.tasks[number] = job, lane
        return carrying.carry(function, lane, job, self._origin)

    def hear(self, number: int, pool: object) -> None:
        """The pool's thread hears of the end of that task."""
        job, lane = self.tasks.pop(number, (None, self._lane))
        kept = _kept()
        if job is not None and kept is not None:
            kept.hear(job, lane, pool)
        elif job is not None:
            pooljobs.forget(job)

    def give(self, function: Callable[..., None]) -> Callable[..., None]:
        """Callbacks of the program run as if the call did."""
        return carrying.carry(function, self._lane, None, self._origin)

    def end(self) -> None:
        if self._job is not None:
            pooljobs.forget(self._job)


class _Jobs:
    """What the program handed to a pool of processes.

    Attributes:
        pool: its processes.
    """

    __slots__ = ("_lane", "_one", "_tasks", "pool")

    def __init__(self, lane: Lane, is_one: bool, pool: Any) -> None:
        self._lane = lane
        self._one = is_one
        self._tasks: dict[int, str] = {}
        self.pool = pool

    def place(self, number: int) -> str:
        """The lane of that task."""
        lane = self._lane if self._one else self._lane.spawn()
        self._tasks[number] = lane.path
        return lane.path

    def take(self, number: int) -> str | None:
        return self._tasks.pop(number, None)


def _kept() -> pooljobs.PoolJobs | None:
    from lctl.session import default  # which needs this module

    return default.pool_jobs()


def _made(original: Callable[..., None], result: Any, pool: Any, *args: Any, **options: Any) -> None:
    """A call's result is made; its tasks are handed in after that."""
    original(result, pool, *args, **options)
    module = sys.modules[MODULE]
    with guard(_PLACE):
        is_one = type(result) is module.ApplyResult
        if isinstance(pool, module.ThreadPool):
            setattr(result, _CALL, _Call(spawning.child(), is_one))
        elif hasattr(pool, "_pool"):
            setattr(result, _JOBS, _Jobs(spawning.child(), is_one, pool._pool))


def _placed(task: tuple[Any, ...], cache: Any) -> tuple[Any, ...]:
    job, number, function, *arguments = task
    call: _Call | None = getattr(cache.get(job), _CALL, None)
    return task if call is None else (job, number, call.place(number, function), *arguments)


def _job_of(task: tuple[Any, ...], cache: Any) -> str | None:
    jobs: _Jobs | None = getattr(cache.get(task[0]), _JOBS, None)
    return None if jobs is None else jobs.place(task[1])


def _handle_tasks(
    original: Callable[..., None],
    tasks: Any,
    put: Callable[[Any], None],
    outqueue: Any,
    pool: Any,
    cache: Any,
) -> None:
    """The thread that hands tasks to workers."""

    def put_placed(task: Any) -> None:
        job = None
        with guard(_PLACE):
            if task is not None:  # which ends a worker
                job = _job_of(task, cache)
                task = _placed(task, cache)
        share = workers.share_of(pool)
        if share is None:
            put(task)
        elif task is None:
            share.end()
        else:
            share.hand(job or f"#{task[0]}.{task[1]}", task)

    original(tasks, put_placed, outqueue, pool, cache)


def _set(original: Callable[..., None], result: Any, number: int, outcome: Any) -> None:
    """The thread of results has what came of a task."""
    jobs: _Jobs | None = getattr(result, _JOBS, None)
    if jobs is not None:
        job, share = jobs.take(number), workers.share_of(jobs.pool)
        if job is None and share is not None:
            job = f"#{result._job}.{number}"
        workers.arrived(share, job, outcome, lambda: original(result, number, outcome))
        return
    call: _Call | None = getattr(result, _CALL, None)
    if call is None:
        original(result, number, outcome)
        return
    cache = result._cache
    with guard(_PLACE):
        call.hear(number, cache)
    call.give(original)(result, number, outcome)
    if result._job not in cache:
        call.end()


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    (MODULE, "ApplyResult", "__init__", _made),
    (MODULE, "IMapIterator", "__init__", _made),
    (MODULE, "Pool", "_handle_tasks", _handle_tasks),
    *(
        (MODULE, of, "_set", _set)
        for of in ("ApplyResult", "MapResult", "IMapIterator", "IMapUnorderedIterator")
    ),
)
