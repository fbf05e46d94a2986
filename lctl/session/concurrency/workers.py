"""Which worker of a pool of processes took which job, and whose result came first.

Workers take jobs from one queue, and who is first there is the system's affair. But a worker records a chain
of its own, and has variables of its own: the same job in another worker is another run. So a job has a lane,
of who handed it in; its result says which worker it comes from, and the parent keeps that, in the order in
which results came. In a rerun each worker has a queue of its own, whose jobs are the recorded ones, and a
result waits while one that came before it is under way (`Share`).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from lctl.guard import guard
from lctl.session import border
from lctl.session.concurrency import lanes, spawning, turns
from lctl.session.concurrency.jobshares import Share, Taken

#: What results have: the system's number of their worker.
_FROM = "_lctl_from"
#: Where a pool's own queue of jobs has its `Share`.
_SHARE = "_lctl_share"
_PLACE = "a job of a pool of processes"
_FUTURES = "concurrent.futures.process"
_POOL = "multiprocessing.pool"

#: Lanes of workers, by the system's number of each; what `concurrent.futures` hands in, by thread.
_workers: dict[int, str] = {}
_handing_in = threading.local()


# -- both kinds of pools ---------------------------------------------------------------------


def _queue_of(process: Any) -> Any:
    target, args = getattr(process, "_target", None), getattr(process, "_args", ())
    name = getattr(target, "__module__", ""), getattr(target, "__name__", "")
    if not args or name not in ((_FUTURES, "_process_worker"), (_POOL, "worker")):
        return None
    return args[0] if hasattr(args[0], "_writer") else None


def starting(process: Any, worker: str) -> Callable[[], None] | None:
    """A process is about to be started in that lane; None where it is no pool's, else what is to be called
    once it has been. In a rerun it gets a queue of its own."""
    shared = _queue_of(process)
    if shared is None:
        return None
    with guard(_PLACE):
        taken = _taken()
        if taken is not None and not hasattr(shared, _SHARE):
            setattr(shared, _SHARE, Share(taken))
        share: Share | None = getattr(shared, _SHARE, None)
        if share is not None:
            own, put = _own_queue(process, shared)
            process._args = (own, *process._args[1:])
            share.add(worker, put, process.is_alive)

    def started() -> None:
        with guard(_PLACE):
            _workers[process.pid] = worker
            setattr(process, _SHARE, getattr(shared, _SHARE, None))
            job = getattr(_handing_in, "starting", None)
            kept = _kept()
            if job is not None and kept is not None:
                kept.start_worker(job, worker)

    return started


def _own_queue(process: Any, shared: Any) -> tuple[Any, Callable[[Any], None]]:
    """One like it, and what puts a job into it."""
    module: Any = sys.modules["multiprocessing.context"]
    context = module._default_context.get_context(type(process)._start_method)
    if not hasattr(shared, "_on_queue_feeder_error"):
        simple = context.SimpleQueue()
        return simple, lambda task: simple._writer.send(task)  # whoever is started finds it while it is kept
    own = context.Queue()
    own._on_queue_feeder_error = shared._on_queue_feeder_error  # which tells the job's future
    own.cancel_join_thread()
    return own, own.put


def _taken() -> Taken | None:
    player = border.playing
    return None if player is None else player.taken(lanes.current())


def _kept() -> Any:
    from lctl.session import default  # which needs this module

    return default.pool_jobs()


def _arrived(share: Share | None, job: str | None, pid: int | None, deliver: Callable[[], None]) -> None:
    """The result of a job has come from that process."""

    def tell() -> None:
        with guard(_PLACE):
            kept, worker = _kept(), _workers.get(pid or 0)
            if job is not None and worker is not None and kept is not None:
                kept.take(job, worker)
        deliver()

    if share is None or job is None:
        tell()
    else:
        share.arrive(job, tell)


def after_fork() -> None:
    """In the child: they are the parent's."""
    _workers.clear()


# -- of concurrent.futures ----------------------------------------------------------------------


def _work_item(original: Callable[..., None], item: Any, future: Any, /, *args: Any, **options: Any) -> None:
    original(item, future, *args, **options)
    with guard(_PLACE):
        lane = spawning.child()
        if lane.index:
            setattr(future, turns.LANE, lane)
            _handing_in.job = lane.path


def _adjust(original: Callable[[Any], None], executor: Any) -> None:
    """One more worker is started, if none is idle; in a rerun, where one was."""
    job = getattr(_handing_in, "job", None)
    share: Share | None = getattr(executor._call_queue, _SHARE, None)
    taken = None if job is None else _taken()
    _handing_in.starting = job
    try:
        if taken is not None and taken.has_starts and (share is None or job in taken.worker):
            if job in taken.starts and len(executor._processes) < executor._max_workers:
                executor._spawn_process()
        else:
            original(executor)
    finally:
        _handing_in.starting = _handing_in.job = None


def _put(original: Callable[..., None], queue: Any, item: Any, /, *args: Any, **options: Any) -> None:
    share: Share | None = getattr(queue, _SHARE, None)
    if share is None:
        original(queue, item, *args, **options)
    elif item is None:
        share.end()
    else:
        share.hand(_job_of(queue.pending_work_items, item.work_id) or f"#{item.work_id}", item)


def _full(original: Callable[[Any], bool], queue: Any) -> bool:
    share: Share | None = getattr(queue, _SHARE, None)
    # The workers have one each, beside what is in the queue.
    return original(queue) if share is None else share.is_full(2 * queue._maxsize)


def _job_of(pending: Any, number: int) -> str | None:
    work = pending.get(number)
    lane = getattr(getattr(work, "future", None), turns.LANE, None)
    return None if lane is None else str(lane.path)


def _result_item(original: Callable[..., None], result: Any, /, *args: Any, **options: Any) -> None:
    """In the worker."""
    original(result, *args, **options)
    setattr(result, _FROM, os.getpid())


def _process_result(original: Callable[[Any, Any], None], manager: Any, result: Any) -> None:
    number = getattr(result, "work_id", None)
    if number is None:  # a worker has gone
        original(manager, result)
        return
    job = _job_of(manager.pending_work_items, number)
    share: Share | None = getattr(manager.call_queue, _SHARE, None)
    if share is not None and job is None:
        job = f"#{number}"
    _arrived(share, job, getattr(result, _FROM, None), lambda: original(manager, result))


# -- of multiprocessing ----------------------------------------------------------------------------


class Outcome(tuple[bool, Any]):
    """What came of a task, which says from whom."""


class _Results:
    """A worker's queue of results."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._reader = queue._reader  # which the worker closes

    def put(self, result: tuple[Any, Any, Any]) -> None:
        job, number, (success, value) = result
        outcome = Outcome((success, value))
        setattr(outcome, _FROM, os.getpid())
        self._queue.put((job, number, outcome))


def _worker(original: Callable[..., None], tasks: Any, results: Any, /, *args: Any, **options: Any) -> None:
    """In the worker: of a pool of processes, not of threads."""
    original(tasks, _Results(results) if hasattr(results, "_reader") else results, *args, **options)


def share_of(pool: Any) -> Share | None:
    """Of a list of processes."""
    return next((share for one in pool if (share := getattr(one, _SHARE, None)) is not None), None)


def arrived(pool_share: Share | None, job: str | None, outcome: Any, deliver: Callable[[], None]) -> None:
    _arrived(pool_share, job, getattr(outcome, _FROM, None), deliver)


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    (_FUTURES, "_WorkItem", "__init__", _work_item),
    (_FUTURES, "ProcessPoolExecutor", "_adjust_process_count", _adjust),
    (_FUTURES, "_SafeQueue", "put", _put),
    (_FUTURES, "_SafeQueue", "full", _full),
    (_FUTURES, "_ResultItem", "__init__", _result_item),
    (_FUTURES, "_ExecutorManagerThread", "process_result_item", _process_result),
    (_POOL, "", "worker", _worker),
)
