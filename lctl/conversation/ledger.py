"""One session as its events tell it: columns that only grow, each fact with the seq that made it true."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Any, NamedTuple

from lctl.conversation.measures import Meter

RUNNING = "running"


class Status(NamedTuple):
    """What a session was from event `seq` on."""

    seq: int
    status: str
    error: Any
    timestamp: str


class Ledger:
    """Filled by `lctl.conversation.sessions`, in the order of seq.

    Attributes:
        first: seq of the first event that names it; 0 while there is none.
        start: seq of its session_start; 0 where the log has none (yet).
        conversation: as its start says; `implied` as the first event says that names it.
        seeds: how many messages its start says the model saw first.
        source: of a fork: the session it goes on from.
        source_number, source_seq: the last message it has from there, and the event it was cut at.
        statuses: running, then how it ended; running again where it was taken up again.
        numbers, nodes, seqs: its messages in the order they came: number, place in the forest, seq.
        states: seqs of events that hold a snapshot of its state.
        ends: seqs of the ends of its turns.
        steps: of its turns, by seq: when it was known to be one, and seq of the end or 0.
    """

    __slots__ = (
        *("_ordered", "conversation", "ends", "first", "high", "high_seqs", "id", "implied", "meter"),
        "nodes",
        *("numbers", "places", "seeds", "seqs", "source", "source_number", "source_seq", "start", "states"),
        *("statuses", "steps", "to"),
    )

    def __init__(self, id: str, seq: int) -> None:
        self.id = id
        self.first = seq
        self.start = 0
        self.conversation = self.implied = "main"
        self.seeds = 0
        self.source: Ledger | None = None
        self.source_number = 0
        self.source_seq = 0
        self.statuses: list[Status] = []
        self.numbers = array("q")
        self.nodes = array("q")
        self.seqs = array("q")
        self.places: dict[int, int] = {}  # node -> its number
        self._ordered = True
        self.high_seqs = array("q")
        self.high = array("q")
        self.to = 0  # the greatest to_message_number so far
        self.states: list[int] = []
        self.ends: list[int] = []
        self.steps: dict[int, tuple[int, int]] = {}
        self.meter = Meter()

    # -- filling -----------------------------------------------------------------------------

    def add(self, number: int, node: int, seq: int) -> None:
        """One more message."""
        if self.numbers and number < self.numbers[-1]:
            self._ordered = False
        self.numbers.append(number)
        self.nodes.append(node)
        self.seqs.append(seq)
        self.places[node] = number
        self.reach(number, seq)

    def reach(self, number: int, seq: int) -> None:
        """Messages are known to go as far as `number`."""
        if not self.high or number > self.high[-1]:
            self.high.append(number)
            self.high_seqs.append(seq)

    @property
    def last(self) -> int:
        """The number of its last message so far; of a fork at least the one it was forked at."""
        return max(self.high[-1] if self.high else 0, self.source_number)

    @property
    def status(self) -> str:
        return self.statuses[-1].status if self.statuses else RUNNING

    # -- reading -----------------------------------------------------------------------------

    def status_at(self, seq: int) -> Status:
        found = Status(self.first, RUNNING, None, "")
        for one in self.statuses:
            if one.seq > seq:
                break
            found = one
        return found

    def high_at(self, seq: int) -> int:
        n = bisect_right(self.high_seqs, seq)
        return self.high[n - 1] if n else 0

    def since(self, number: int) -> int:
        """The event that made message `number` the session's own; 0 of one that is not.

        What a model call had recorded itself is in the log before that.
        """
        return next((seq for seq, own in zip(self.seqs, self.numbers, strict=False) if own == number), 0)

    def latest(self, seqs: list[int], seq: int) -> int:
        """The last of `seqs` that is not after `seq`; 0 where there is none."""
        n = bisect_right(seqs, seq)
        return seqs[n - 1] if n else 0

    def latest_own(self, seq: int) -> int | None:
        """The place of its last own message by number."""
        if self._ordered and self.seqs and self.seqs[-1] <= seq:
            return self.nodes[-1]
        found = self.own(seq, 0, 1 << 62)
        return found[-1][1] if found else None

    def own(self, seq: int, after: int, to: int) -> list[tuple[int, int]]:
        """(number, node) of its own messages with after < number <= to, by number."""
        if self._ordered:
            low, high = bisect_right(self.numbers, after), bisect_right(self.numbers, to)
            found = range(low, high)
        else:
            found = range(len(self.numbers))
        seqs, numbers, nodes = self.seqs, self.numbers, self.nodes
        there = [(numbers[n], nodes[n]) for n in found if seqs[n] <= seq and after < numbers[n] <= to]
        if not self._ordered:
            there.sort()
        return there
