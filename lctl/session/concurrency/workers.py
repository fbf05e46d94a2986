"""Which worker of a pool of processes took which job, and whose result came first.

Workers take jobs from one queue, and who is first there is the system's affair. But a worker records a chain
of its own, and has variables of its own: the same job in another worker is another run. So a job has a lane,
of who handed it in; its result says which worker it comes from, and the parent keeps that, in the order in
which results came. In a rerun each worker has a queue of its own (`Share`), whose jobs are the recorded ones,
and a result waits while one that came before it is under way.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable
from typing import Any

from lctl.guard import guard
from lctl.session import border
from lctl.session.concurrency import lanes, spawning, turns

#: What results have: the system's number of their worker.
_FROM = "_lctl_from"
#: Where a pool's own queue of jobs has its `Share`.
_SHARE = "_lctl_share"
#: Real seconds in which a worker is to be started that has jobs.
_PATIENCE = 20.0
_PLACE = "a job of a pool of processes"
_FUTURES = "concurrent.futures.process"
_POOL = "multiprocessing.pool"

#: Lanes of workers, by the system's number of each; what `concurrent.futures` hands in, by thread.
_workers: dict[int, str] = {}
_handing_in = threading.local()
_sleep = time.sleep


class Taken:
    """What was recorded of that, to be so again.

    Args:
        rows: as `PoolJobs` keeps them.
        starts: likewise: the worker, and the job with which it was started.
    """

    def __init__(self, rows: list[list[str]], starts: list[list[str]]) -> None:
        self.worker = dict(rows)
        self.rank = {job: n for n, (job, _) in enumerate(rows)}
        self.starts = {job for job, _ in starts}
        self.has_starts = bool(starts)


class Share:
    """Hands the jobs of one pool to the workers that took them.

    A job of which nothing was recorded goes to who has the least to do. So does one whose worker is not
    started while nothing else happens for long: in a fork that may never be.
    """

    def __init__(self, taken: Taken) -> None:
        self._taken = taken
        self._lock = threading.RLock()
        self._queues: dict[str, Callable[[Any], None]] = {}
        self._alive: dict[str, Callable[[], bool]] = {}
        self._ended: set[str] = set()
        self._at_work: dict[str, str] = {}  # job -> worker
        self._kept: list[tuple[str, Any]] = []  # for workers that are to come
        self._early: dict[str, Callable[[], None]] = {}
        self._moves = 0  # what has happened
        self._is_watched = False

    def add(self, worker: str, put: Callable[[Any], None], is_alive: Callable[[], bool]) -> None:
        with self._lock:
            self._queues[worker] = put
            self._alive[worker] = is_alive
            self._hand_kept()
            self._moves += 1

    def hand(self, job: str, item: Any) -> None:
        with self._lock:
            self._kept.append((job, item))
            self._hand_kept()
            self._moves += 1
            if self._kept and not self._is_watched:
                self._is_watched = True
                start_new_thread(self._watch, ())

    def end(self) -> None:
        """One worker is told that there are no more jobs."""
        with self._lock:
            left = [name for name in self._queues if name not in self._ended]
            worker = next((name for name in left if self._alive[name]()), None)
            if worker is not None:
                self._ended.add(worker)
                self._queues[worker](None)

    def arrive(self, job: str, deliver: Callable[[], None]) -> None:
        """Its result has come, which `deliver` gives to the program: when its turn has come, too."""
        with self._lock:
            self._at_work.pop(job, None)
            self._early[job] = deliver
            self._moves += 1
            ready = self._ready()
        for each in ready:
            each()

    def is_full(self, most: int) -> bool:
        """Whether so many jobs are with the workers."""
        with self._lock:
            return len(self._at_work) + len(self._kept) >= most

    def _ready(self) -> list[Callable[[], None]]:
        rank = self._taken.rank
        under_way = [rank[job] for job in (*self._at_work, *(job for job, _ in self._kept)) if job in rank]
        first = min(under_way, default=len(rank))
        names = sorted(
            (job for job in self._early if rank.get(job, -1) < first), key=lambda job: rank.get(job, -1)
        )
        return [self._early.pop(job) for job in names]

    def _hand_kept(self) -> None:
        left = []
        for job, item in self._kept:
            worker = self._worker_of(job)
            if worker is None:
                left.append((job, item))
            else:
                self._give(worker, job, item)
        self._kept = left

    def _watch(self) -> None:
        while True:
            before = self._moves
            _sleep(_PATIENCE)
            with self._lock:
                if not self._kept:
                    self._is_watched = False
                    return
                if self._moves == before and self._queues:
                    job, item = self._kept.pop(0)
                    self._give(self._idlest(), job, item)

    def _worker_of(self, job: str) -> str | None:
        recorded = self._taken.worker.get(job)
        if recorded is None:
            return self._idlest() if self._queues else None
        return recorded if recorded in self._queues else None

    def _idlest(self) -> str:
        loads = list(self._at_work.values())
        able = [name for name in self._queues if self._alive[name]()] or list(self._queues)
        return min(able, key=loads.count)

    def _give(self, worker: str, job: str, item: Any) -> None:
        self._at_work[job] = worker
        try:
            self._queues[worker](item)
        except BaseException:
            self._at_work.pop(job, None)
            raise


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
