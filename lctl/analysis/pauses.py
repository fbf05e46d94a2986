"""The time between what a fork or rerun has of its recording and what it did itself: minutes or weeks in
which nothing ran, and which are no part of how long it took."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lctl.analysis.log import Log
from lctl.errors import LctlError
from lctl.events import Event
from lctl.state.times import millis

if TYPE_CHECKING:
    from lctl.analysis.run import Run

#: Events looked at on either side for one whose time can be read.
_NEAR = 64


class Pause(NamedTuple):
    """After event `seq`. `begun`: milliseconds since the epoch; `ms`: how long it was."""

    seq: int
    begun: float
    ms: float

    def without(self, at: float) -> float:
        """A time as if there had been no pause. Events near its ends need not be in order of time."""
        return at - self.ms if at > self.begun + self.ms / 2 else at


#: Of a run that has none.
NO_PAUSE = Pause(0, 0.0, 0.0)


def inherited_until(log: Log) -> float:
    """Up to this event a rerun or fork has the lines of the recording it was made of, with its times;
    infinity where all of it is."""
    parent = log.chain.get("parent")
    if "fork" in log.chain and isinstance(parent, dict) and type(parent.get("seq")) is int:
        return float(parent["seq"])
    tail = getattr(log, "tail", None)
    ending = tail.get("rerun") if isinstance(tail, dict) else None
    first = ending.get("first_difference") if isinstance(ending, dict) else None
    seq = first.get("seq") if isinstance(first, dict) else None
    return float(seq) - 1 if type(seq) is int else float("inf")


def pause_of(log: Log) -> Pause:
    """That of a log; as long as nothing of its own is there, it has none."""
    if not log.chain.keys() & {"fork", "rerun"}:
        return NO_PAUSE
    until = inherited_until(log)
    if until == float("inf"):
        return NO_PAUSE
    last = int(until)
    before = _times(log.events(max(0, last - _NEAR), last + 1))
    after = _times(islice(log.events(last + 1), _NEAR))
    if not before or not after or after[0] <= before[-1]:
        return NO_PAUSE
    return Pause(last, before[-1], after[0] - before[-1])


def lasted(pause: Pause, seq: int, stated: float) -> float:
    """How long a run had taken after event `seq`, milliseconds. `stated`: from its earliest timestamp to its
    latest, as states and summaries have it."""
    return stated if seq <= pause.seq else round(max(0.0, stated - pause.ms), 3)


def duration_of(run: Run) -> float | None:
    """How long a run took, milliseconds, as `stats` says it; None where its summary does not."""
    stated = run.summary.get("duration_ms")
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return None
    if not run.chain.keys() & {"fork", "rerun"}:
        return float(stated)
    try:
        log = run.log()
        return lasted(pause_of(log), log.last_seq, float(stated))
    except LctlError:
        return None


def _times(events: Iterable[Event]) -> list[float]:
    found = (millis(event.timestamp) for event in events)
    return [at for at in found if at is not None]
