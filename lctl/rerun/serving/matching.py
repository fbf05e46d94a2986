"""Which recorded crossing is this one? (RERUN section 1)

By identity first: the lane, the kind, the number in the lane. The content then says whether it is exact.
Where the program was edited, the lane's recorded calls are aligned by content: one that is found further
on in its lane has moved, those before it were not made.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from lctl.rerun.serving.requests import Canonical, Comparer, continued
from lctl.rerun.settings import POLICIES, Policy
from lctl.rerun.tape.entries import Entry
from lctl.rerun.tape.tape import Tape
from lctl.session.border import WireRequest

if TYPE_CHECKING:
    from lctl.rerun.tape.drawnids import DrawnIds

How = Literal["exact", "moved", "drift", "pending", "none"]

#: Below this likeness a request is taken for one that was not made in the recording, not for a changed one.
_ALIKE = 0.3


class Match(NamedTuple):
    """What was found for a call.

    Attributes:
        how: exact; moved (the same content further on in the lane); drift (the same place, other content);
            pending (the recording has its beginning only); none.
        entry: that is to be served; of drift, the one at this place.
        number: of the call in its lane.
        hash_equal: the bodies are equal to the byte.
    """

    how: How
    entry: Entry | None
    number: int
    hash_equal: bool = True


class Cursor:
    """Where in the recorded calls of one kind a lane stands."""

    __slots__ = ("asked", "at")

    def __init__(self) -> None:
        self.asked = 0
        self.at = 0


class Matcher:
    """Finds recorded crossings of one tape. Safe from several threads."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.comparer = Comparer(tape)
        self._cursors: dict[tuple[str, str], Cursor] = {}
        self._lock = threading.RLock()

    def exchange(self, request: WireRequest, hash: str | None, *, again: bool = False) -> Match:
        """The recorded exchange for a request; nothing is used up before `take`.

        Args:
            again: it was asked for already, in another form.
        """
        asked: list[Canonical] = []

        def equal(entry: Entry) -> bool | None:
            if hash is not None and entry.hash == hash:
                return True if self.comparer.is_asked_alike(entry, request) else None
            if entry.plain != (request.provider is None):
                return None
            if not asked:
                asked.append(self.comparer.asked(request))
            recorded = continued(self.comparer.recorded(entry), asked[0])
            return False if recorded.same(asked[0]) else None

        with self._lock:
            cursor = self._cursor(request.lane.path, "exchange")
            cursor.asked += not again
            found = self._find(self.entries(request.lane.path, "exchange"), cursor, equal)
            if found.how == "none":
                return self._pending(request, cursor.asked) or found
            return found

    def learn(self, ids: DrawnIds, entry: Entry, request: WireRequest) -> bool:
        """Whether a request is the recorded one but for drawn ids, which stand for the recorded ones then."""
        if entry.plain != (request.provider is None):
            return False
        asked = self.comparer.asked(request)
        return ids.learn(continued(self.comparer.recorded(entry), asked).text(), asked.text())

    def other(self, lane: str, kind: str, equal: Callable[[Entry], bool]) -> Match:
        """The recorded tool call; `equal` compares its content."""
        with self._lock:
            cursor = self._cursor(lane, kind)
            cursor.asked += 1
            return self._find(self.entries(lane, kind), cursor, lambda entry: equal(entry) or None)

    def take(self, match: Match) -> list[Entry]:
        """The entry of `match` is served: it and what was passed over, which is returned, will not be
        served again."""
        entry = match.entry
        if entry is None:
            return []
        with self._lock:
            entry.used = True
            if match.how == "pending":
                return []
            cursor = self._cursor(entry.lane, entry.kind)
            before, cursor.at = cursor.at, entry.number
            return self.entries(entry.lane, entry.kind)[before : entry.number - 1]

    def following(self, lane: str, kind: str) -> Entry | None:
        """The recorded call that comes next in a lane."""
        with self._lock:
            row, at = self.entries(lane, kind), self._cursor(lane, kind).at
            return row[at] if at < len(row) else None

    def entries(self, lane: str, kind: str) -> list[Entry]:
        return self.tape.lanes.get((lane, kind), [])

    # -- inside ----------------------------------------------------------------------------

    def _cursor(self, lane: str, kind: str) -> Cursor:
        found = self._cursors.get((lane, kind))
        if found is None:
            found = self._cursors[lane, kind] = Cursor()
        return found

    def _find(self, row: list[Entry], cursor: Cursor, equal: Callable[[Entry], bool | None]) -> Match:
        """`equal` gives True for the same bytes, False for the same content, None for another."""
        number = cursor.asked
        here = row[cursor.at] if cursor.at < len(row) else None
        if here is None:
            return Match("none", None, number)
        same = equal(here)
        if same is not None:
            # After an insertion or removal in front the number is another one, in order all the same.
            return Match("exact" if here.number == number else "moved", here, number, same)
        for entry in row[cursor.at + 1 :]:
            same = equal(entry)
            if same is not None:
                return Match("moved", entry, number, same)
        return Match("drift", here, number, False)

    def _pending(self, request: WireRequest, number: int) -> Match | None:
        """A call of which the recording has the beginning only, by its content: it says no lane."""
        asked = self.comparer.asked(request) if self.tape.pending else None
        for entry in self.tape.pending:
            if entry.used or asked is None:
                continue
            if continued(self.comparer.recorded(entry), asked).same(asked):
                return Match("pending", entry, number)
        return None

    def is_alike(self, entry: Entry, request: WireRequest) -> bool:
        """Whether a request looks like a changed form of a recorded one."""
        return self.likeness(entry, self.comparer.asked(request)) >= _ALIKE

    def likeness(self, entry: Entry, asked: Canonical) -> float:
        """From 0 (nothing in common) to 1, by the words of the two prompts."""
        recorded = continued(self.comparer.recorded(entry), asked)
        if recorded.head.get("operation") != asked.head.get("operation"):
            return 0.0
        if recorded.same(asked):
            return 1.0
        return min(0.99, _shared(recorded.words(), asked.words()))


def _shared(one: list[str], other: list[str]) -> float:
    """What part of the words of both is in both."""
    if not one and not other:
        return 0.9
    left, right = Counter(one), Counter(other)
    return 2 * (left & right).total() / (len(one) + len(other))


__all__ = ["POLICIES", "Match", "Matcher", "Policy"]
