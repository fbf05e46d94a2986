"""The part of a program whose recorded future a fork drops: a lane, and who goes on where it ends.

Frameworks make a model call or a tool call in a task of its own. That lane ends with it, and what comes of
it is done by the lane that started it, which waited for it: what that one does from then on follows too, and
what it starts then. What it had started before runs beside, and does not follow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lctl.rerun.tape.entries import Entry

#: What a fork asks anew.
_CALLS = frozenset({"exchange", "tool"})


class Strand:
    """A lane from a fork point on.

    Args:
        entries: the whole recording's.
        at: the last event that is the tape's.
        until: the end of what the fork is about in `lane`: what begins behind it comes after that.
        beside: seqs of tool calls that ended behind it, but were asked for with it.
        around: (lane, seq) of tool calls whose bodies it is in: what comes after them follows.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        lane: str,
        at: int,
        until: int,
        beside: Collection[int] = (),
        around: Collection[tuple[str, int]] = (),
    ) -> None:
        self.lane = lane
        self._at = at
        self._first: dict[str, int] = {}
        for entry in entries:
            begins = min(entry.begins, entry.seq)
            self._first[entry.lane] = min(begins, self._first.get(entry.lane, begins))
        calls = [
            (entry.lane, entry.begins)
            for entry in entries
            if entry.kind in _CALLS and entry.seq not in beside
        ]
        heir = self._goes_on(calls, lane, until)
        self._heirs = [] if heir == lane else [(heir, until)]
        self._heirs += [(self._goes_on(calls, its, end), end) for its, end in around]

    def has(self, lane: str, begins: int | None = None) -> bool:
        """Whether calls of that lane, or the one that begins there, follow from the forked one."""
        if lane == self.lane or self._starts(self.lane, lane, self._at):
            return True
        return any(heir and self._in(heir, lane, begins, after) for heir, after in self._heirs)

    def _goes_on(self, calls: Sequence[tuple[str, int]], lane: str | None, after: int) -> str | None:
        """The nearest lane that has calls of the future: the one given, or one around; None without any."""
        while lane is not None and not any(self._in(lane, *call, after) for call in calls):
            lane = _around(lane)
        return lane

    def _in(self, lane: str, other: str, begins: int | None, after: int) -> bool:
        if other == lane:
            return begins is None or begins > after
        return self._starts(lane, other, after)

    def _starts(self, lane: str, other: str, after: int) -> bool:
        """Whether `lane` starts the other one behind that event; one that is not recorded it does."""
        return other.startswith((lane + ".", lane + "/")) and self._first.get(other, after + 1) > after


def _around(lane: str) -> str | None:
    """The lane that started that one."""
    end = max(lane.rfind("."), lane.rfind("/"))
    return lane[:end] if end > 0 else None
