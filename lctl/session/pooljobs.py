"""The jobs of thread pools: in which order they ended, and what the program saw of them.

Which of two jobs is done first decides whose callbacks run first. Between the last thing that a job recorded
and its end threads change places, so the ends of jobs that ran at the same time are kept. And who waits for
several goes on when the system lets it, with one of them done or with three: that is what it saw, not what
the jobs did, and kept, too (`lctl.session.poolwaits`). All is written when the session closes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.session import border
from lctl.session.lanes import Lane

if TYPE_CHECKING:
    from lctl.session.underway import UnderWay

#: Source of the `ambient` event that says it.
SOURCE = "jobs"
#: So many ends, and so many looks, of a session are kept: a server's go on for ever.
_MANY = 100_000


class Ended(NamedTuple):
    """A job's end. `at`: milliseconds from the beginning of the recording; `seq`: of the event before."""

    lane: str
    at: float
    seq: int


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
    """One that runs, in whatever session. `alone`: no other one did meanwhile."""

    alone = True


_running: dict[Job, None] = {}


def begin() -> Job:
    """A job begins, in the thread that runs it. Tell `PoolJobs.end` or `forget` of it."""
    made = Job()
    _running[made] = None  # before looking: of two that begin at once, one sees both
    if len(_running) > 1:
        for other in list(_running):
            other.alone = False
    return made


def forget(job: Job) -> None:
    _running.pop(job, None)


def after_fork() -> None:
    """In the child: they are the parent's."""
    _running.clear()


class PoolJobs:
    """What one session keeps. Safe from several threads.

    Args:
        seq: gives that of the last event.
    """

    __slots__ = ("_ended", "_seen", "_seq", "_under_way")

    def __init__(self, under_way: UnderWay, seq: Callable[[], int]) -> None:
        self._under_way = under_way
        self._seq = seq
        self._ended: list[Ended] = []
        self._seen: list[Seen] = []

    def end(self, job: Job, lane: Lane) -> None:
        """It has ended, and nobody knows yet; in a rerun, when it did.

        Raises:
            RerunStopped: the rerun has ended.
        """
        player = border.playing
        if player is None or player.is_live(lane):
            if not job.alone and len(self._ended) < _MANY:
                self._ended.append(Ended(lane.path, self._under_way.now(), self._seq()))
        else:
            recorded = player.ended(lane)
            if recorded is not None:
                left = player.has_left(recorded.seq)
                now = Ended(recorded.lane, self._under_way.now(), self._seq()) if left else recorded
                self._ended.append(now)
        forget(job)

    def see(self, seen: Seen) -> None:
        if len(self._seen) < _MANY:
            self._seen.append(seen)

    def data(self) -> dict[str, Any] | None:
        """Of the event; in a rerun, the recorded one's. None where there is nothing to say."""
        recorded = None if border.playing is None else border.playing.jobs()
        if recorded is not None:
            return recorded or None
        if not (self._ended or self._seen):
            return None
        ended = [list(one) for one in sorted(self._ended, key=lambda one: (one.seq, one.at))]
        seen = [list(one) for one in sorted(self._seen, key=lambda one: one.lane)]
        return {"source": SOURCE, "key": "pools", "value": {"ended": ended, "seen": seen}}
