"""The part of a program whose recorded future a fork drops: a lane, and who goes on where it ends.

Frameworks make a model call or a tool call in a task of its own. That lane ends with it, and what comes of
it is done by the lane that started it, which waited for it: what that one does from then on follows too, and
what it starts then. What it had started before runs beside, and does not follow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lctl.rerun.entries import Entry

#: What a fork asks anew.
_CALLS = frozenset({"exchange", "tool"})


class Strand:
    """A lane from a fork point on.

    Args:
        entries: the whole recording's.
        at: the last event that is the tape's.
        until: the end of what the fork is about in `lane`: what begins behind it comes after that.
        beside: seqs of tool calls that ended behind it, but were asked for with it.
    """

    def __init__(
        self, entries: Sequence[Entry], lane: str, at: int, until: int, beside: Collection[int] = ()
    ) -> None:
        self.lane = lane
        self._at, self._until = at, until
        self._first: dict[str, int] = {}
        for entry in entries:
            begins = min(entry.begins, entry.seq)
            self._first[entry.lane] = min(begins, self._first.get(entry.lane, begins))
        self._heir = self._goes_on([entry for entry in entries if entry.seq not in beside])

    def has(self, lane: str, begins: int | None = None) -> bool:
        """Whether calls of that lane, or the one that begins there, follow from the forked one."""
        if lane == self.lane or self._starts(self.lane, lane, self._at):
            return True
        return self._heir is not None and self._in(self._heir, lane, begins)

    def _goes_on(self, entries: Sequence[Entry]) -> str | None:
        """The nearest lane around that has calls of the future; None where `lane` itself has."""
        calls = [(entry.lane, entry.begins) for entry in entries if entry.kind in _CALLS]
        lane: str | None = self.lane
        while lane is not None and not any(self._in(lane, *call) for call in calls):
            lane = _around(lane)
        return None if lane == self.lane else lane

    def _in(self, lane: str, other: str, begins: int | None) -> bool:
        if other == lane:
            return begins is None or begins > self._until
        return self._starts(lane, other, self._until)

    def _starts(self, lane: str, other: str, after: int) -> bool:
        """Whether `lane` starts the other one behind that event; one that is not recorded it does."""
        return other.startswith((lane + ".", lane + "/")) and self._first.get(other, after + 1) > after


def _around(lane: str) -> str | None:
    """The lane that started that one."""
    end = max(lane.rfind("."), lane.rfind("/"))
    return lane[:end] if end > 0 else None
