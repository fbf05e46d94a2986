"""The jobs of one pool of processes in a rerun: each goes to the worker that took it, and their results come
in the recorded order (see `lctl.session.concurrency.workers`)."""

from __future__ import annotations

import threading
import time
from _thread import start_new_thread
from collections.abc import Callable
from typing import Any

#: Real seconds in which a worker is to be started that has jobs.
_PATIENCE = 20.0
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
