"""The jobs of thread pools: in which order they ended, and what the program saw of them.

Which of two jobs is done first decides whose callbacks run first. Between the last thing that a job recorded
and its end threads change places, so the ends of jobs that ran at the same time are kept. Between its end and
what its thread tells an event loop they do, too: where a loop hears of ends in another order, it is that one
(`PoolJobs.hear`). And who waits for several goes on when the system lets it, with one of them done or with
three: that is what it saw, not what the jobs did, and kept, too (`poolwaits`). All is written when the
session closes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ReferenceType, WeakSet, ref

from lctl.session import border
from lctl.session.concurrency import queueorder, turns
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.underway import Moment

if TYPE_CHECKING:
    from lctl.session.session import LCTLSession

#: Source of the `ambient` event that says it.
SOURCE = "jobs"
#: In a rerun, the kind of a loop's hearing of a job's end.
HEARD = "heard"
#: And those of what is behind the event that it names.
AFTER = frozenset({SOURCE, HEARD})
#: Milliseconds from one end to another that was behind it.
_AFTER = 0.001
#: So many ends, and so many looks, of a session are kept: a server's go on for ever.
_MANY = 100_000
#: And before a session: of a program that nothing is ever recorded of, too.
_FEW = 10_000
#: So many queues of a session are followed.
_QUEUES = 1_000
#: Where the moments of those begin.
_LONG_AGO = -1e9


class Ended(NamedTuple):
    """A job's end. `at`: milliseconds from the beginning of the recording; `seq`: of the event before."""

    lane: str
    at: float
    seq: int


class Heard(NamedTuple):
    """An event loop's hearing of a job's end, where its turns are counted and threads' wakes are no events.

    `at` and `seq` as of `Ended`; `turn` and `behind` as of a `Moment` (`lctl.session.concurrency.underway`).
    """

    lane: str
    at: float
    seq: int
    turn: int
    behind: int


class Seen(NamedTuple):
    """What was seen in `lane` by the function `key`, of the jobs `of`: their numbers.

    Where it is seen one after the other (`as_completed`), there are more and more. Where it is seen of all
    that there are (`flush`, of CrewAI's handlers), their lanes.
    """

    lane: str
    key: str
    of: str
    jobs: list[Any]


class Job:
    """One that is under way, in whatever session.

    Args:
        loop: whether an event loop, or a thread of its pool, is to hear of its end.

    Attributes:
        alone: no other one was under way meanwhile.
    """

    __slots__ = ("__weakref__", "alone", "loop")

    def __init__(self, loop: bool) -> None:
        self.alone = True
        self.loop = loop


# Who was handed a job lets go of it, and some that a loop is to hear of it never does.
_under_way: WeakSet[Job] = WeakSet()
_first: ReferenceType[Job] | None = None  # of those, the one that was the only one, or None
_lock = threading.RLock()


def begin(loop: bool) -> Job:
    """A job is handed in. It is under way until its end, or until its loop hears of that: which of several
    is first is the threads' affair even where one of them had not begun when another was over. Tell
    `PoolJobs.end`, and `PoolJobs.hear` or `forget` of it."""
    global _first
    made = Job(loop)
    with _lock:
        if _under_way:
            made.alone = False
            other = None if _first is None else _first()
            if other is not None:
                other.alone = False
            _first = None
        else:
            _first = ref(made)
        _under_way.add(made)
    return made


def forget(job: Job) -> None:
    with _lock:
        _under_way.discard(job)


def after_fork() -> None:
    """In the child: they are the parent's."""
    global _first, _lock
    _lock = threading.RLock()
    take_early()
    _under_way.clear()
    _first = None


class PoolJobs:
    """What one session keeps. Safe from several threads.

    Args:
        now: gives the time, in milliseconds from the beginning of the recording.
        seq: gives that of the last event.
        most: so many ends, and so many looks, are kept.
    """

    __slots__ = (
        "_ended",
        "_heard",
        "_last",
        "_most",
        "_now",
        "_queues",
        "_room",
        "_seen",
        "_seq",
        "_several",
        "_starts",
        "_took",
    )

    def __init__(self, now: Callable[[], float], seq: Callable[[], int], most: int = _MANY) -> None:
        self._most = most
        self._now = now
        self._seq = seq
        self._ended: dict[str, Ended] = {}  # by lane
        self._last: dict[int, Ended] = {}  # that a loop has heard of; by id of the loop
        self._heard: list[Heard] = []
        self._several = False
        self._seen: list[Seen] = []
        self._took: list[list[str]] = []
        self._starts: list[list[str]] = []
        self._queues: list[queueorder.Order] = []
        self._room = [queueorder.ROOM]

    def end(self, job: Job, lane: Lane) -> None:
        """It has ended, and nobody knows yet; in a rerun, when it did.

        Raises:
            RerunStopped: the rerun has ended.
        """
        player = border.playing
        if player is None or player.is_live(lane):
            self._note(job, lane)
        else:
            recorded = player.ended(lane)
            if recorded is not None:
                left = player.has_left(recorded.seq)
                now = Ended(recorded.lane, self._now(), self._seq()) if left else recorded
                self._ended[now.lane] = now
                self._several = True
        if not job.loop:
            forget(job)

    def _note(self, job: Job, lane: Lane) -> None:
        """From the first jobs on that are under way at once, all are kept: in a rerun those that wait for
        their turn would be overtaken by one that had none."""
        if not job.alone:
            self._several = True
        if (self._several or job.loop) and len(self._ended) < self._most:
            self._ended[lane.path] = Ended(lane.path, self._now(), self._seq())

    def hear(self, job: Job, lane: Lane, loop: object) -> None:
        """The loop that runs here hears of the end of a job. Its thread told the loop in one step, after that
        end: before one that is heard of later was told, one that is heard of earlier had ended."""
        forget(job)
        if turns.counting and not turns.active:
            self._note_turn(lane)
        if not job.alone:
            self._several = True
        elif not self._several:
            self._ended.pop(lane.path, None)
        ended = self._ended.get(lane.path)
        player = border.playing
        if ended is None or (player is not None and not player.is_live(lane)):
            return
        before = self._last.get(id(loop))
        if before is not None and (ended.seq, ended.at) < (before.seq, before.at):
            ended = self._ended[lane.path] = Ended(ended.lane, before.at + _AFTER, before.seq)
        self._last[id(loop)] = ended

    def _note_turn(self, lane: Lane) -> None:
        """The loop that runs here hears of a job's end in this turn, and at this place of it."""
        moment = Moment()
        moment.arrive()
        if moment.turn is not None and len(self._heard) < self._most:
            heard = Heard(lane.path, self._now(), self._seq(), moment.turn, moment.behind or 0)
            self._heard.append(heard)

    def adopt(self, earlier: PoolJobs) -> None:
        """Begin with what was kept before there was a session."""
        self._ended, self._last, self._heard = earlier._ended, earlier._last, earlier._heard
        self._seen, self._several = earlier._seen, earlier._several
        self._queues, self._room = earlier._queues, earlier._room
        self._took, self._starts = earlier._took, earlier._starts
        for order in self._queues:
            order.told = self._moment

    def queue(self, lane: str, number: int, turns: queueorder.Turns | None) -> queueorder.Order | None:
        """Of one that the program makes in that lane; None where there are too many of them."""
        if len(self._queues) >= _QUEUES:
            return None
        order = queueorder.Order(lane, number, self._moment, turns, self._room)
        self._queues.append(order)
        return order

    def inherit(self, order: queueorder.Order, turns: queueorder.Turns | None) -> bool:
        """In a forked child, of one that its parent had made. Whether it is noted: there may be too many."""
        if len(self._queues) >= _QUEUES:
            return False
        order.pass_on(self._moment, turns, self._room)
        self._queues.append(order)
        return True

    def _moment(self) -> tuple[float, int]:
        return self._now(), self._seq()

    def see(self, seen: Seen) -> None:
        if len(self._seen) < self._most:
            self._seen.append(seen)

    def take(self, job: str, worker: str) -> None:
        """The result of a job has come from that worker (`lctl.session.concurrency.workers`)."""
        if len(self._took) < self._most:
            self._took.append([job, worker])

    def start_worker(self, job: str, worker: str) -> None:
        """It was started when that job was handed in."""
        if len(self._starts) < self._most:
            self._starts.append([job, worker])

    def data(self, session: LCTLSession) -> dict[str, Any] | None:
        """Of the event that ends `session`; in a rerun, the recorded one. None: there is nothing to say."""
        recorded = None if border.playing is None else border.playing.jobs(session)
        if recorded is not None:
            return recorded or None
        kept = self._ended.values() if self._several else ()
        rows = [row for row in (order.row() for order in self._queues) if row is not None]
        if not (kept or self._seen or self._heard or self._took or rows or turns.counted_from):
            return None
        ended = [list(one) for one in sorted(kept, key=lambda one: (one.seq, one.at))]
        seen = [list(one) for one in sorted(self._seen, key=lambda one: one.lane)]
        value: dict[str, Any] = {"ended": ended, "seen": seen}
        if self._heard:
            value["heard"] = [list(one) for one in self._heard]
        if self._took:
            value["took"] = self._took
        if self._starts:
            value["starts"] = self._starts
        if rows:
            value["queues"] = rows
        if turns.counted_from:
            first, *others = turns.counted_from
            value["counted"] = [first, *others] if others else first
        return {"source": SOURCE, "key": "pools", "value": value}


def _early() -> PoolJobs:
    """Its moments are in their order, and before the recording, however many jobs leave nothing."""
    return PoolJobs(count(_LONG_AGO).__next__, lambda: 0, _FEW)


#: What a program is seen to do that will be recorded from its first event on, and had none yet.
early = _early()


def take_early() -> PoolJobs:
    """What was kept, for the session that is opened now."""
    global early
    taken, early = early, _early()
    return taken
