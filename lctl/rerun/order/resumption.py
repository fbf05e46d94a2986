"""When the recorded program went on with an answer that was written together with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lctl.rerun.tape.entries import Entry
    from lctl.rerun.tape.tape import Tape


class Resumptions:
    """What `Tape.resumed` holds, each once."""

    def __init__(self, tape: Tape) -> None:
        self._by_seq = tape.resumed
        self._by_lane: dict[str, list[tuple[Entry, float]]] = {}
        for seq in sorted(tape.resumed):
            entry, at = tape.resumed[seq]
            self._by_lane.setdefault(entry.lane, []).append((entry, at))
        self._gone: set[int] = set()

    def take(self, lane: str, seq: int, sure: bool) -> tuple[Entry, float] | None:
        """As `find`; it is not found again."""
        found = self.find(lane, seq, sure)
        if found is not None:
            self._gone.add(found[0].seq)
        return found

    def find(self, lane: str, seq: int, sure: bool) -> tuple[Entry, float] | None:
        """The recorded crossing that `lane` goes on with now, and when it did; None if that was not noted.

        Args:
            seq: of its event, as far as is known.
            sure: it is the recorded one. Else events are held back whose order is not the recording's yet;
                then it is what was served last in this lane, which does one thing after the other.
        """
        found = self._by_seq.get(seq)
        if found is not None and self._fits(lane, found[0]):
            return found
        if sure:
            return None
        return next((one for one in self._by_lane.get(lane, ()) if self._fits(lane, one[0])), None)

    def _fits(self, lane: str, entry: Entry) -> bool:
        return entry.lane == lane and entry.used and entry.seq not in self._gone
