"""The score: the recorded deliveries in their order, and how far it has been played."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from lctl.rerun.order.spots import LAST, Spot
from lctl.rerun.order.waiting import Key
from lctl.session.concurrency import pooljobs
from lctl.session.concurrency.turns import AT_ONCE, FAR

#: Places after one that is dropped among which the next for its loop is looked for.
_NEAR = 64
#: Places after one among which another of its turn is looked for.
_TOGETHER = 64


class Violation(NamedTuple):
    """A delivery that came later than recorded: when it was due, nobody asked for it."""

    key: Key
    after: Key

    def __str__(self) -> str:
        return f"{_named(self.key)} came after {_named(self.after)}: nobody asked for it when it was due"


class Score:
    """Places in the recorded order, counted from 0.

    Attributes:
        head: the first place that is neither played nor passed over; `length` at the end.
        length: how many there are.
    """

    def __init__(self, moments: Iterable[Any]) -> None:
        """Of (milliseconds, key), (milliseconds, key, turn) or (milliseconds, key, turn, spot)."""
        self._moments: list[tuple[float, Key, int | None]] = []
        self._spots: list[Spot] = []
        for one in moments:
            self._moments.append((one[0], one[1], one[2] if len(one) > 2 else None))
            self._spots.append(one[3] if len(one) > 3 else LAST)
        self._places = {moment[1]: place for place, moment in enumerate(self._moments)}
        # What was there when it was asked for has no turn, and nothing waits for it.
        self._late = {place for place, moment in enumerate(self._moments) if moment[2] == AT_ONCE}
        self._there: dict[str, deque[int]] = {}
        for place in sorted(place for place in self._late if not self._spots[place].exact):
            self._there.setdefault(self._moments[place][1][0], deque()).append(place)
        self._over = bytearray(place in self._late for place in range(len(self._moments)))
        self.length = len(self._moments)
        self.head = 0
        self._advance()

    def place(self, key: Key) -> int | None:
        """Where a delivery stands; None if it is over, or was never recorded."""
        place = self._places.get(key)
        if place is None or (self._over[place] and place not in self._late):
            return None
        return place

    def close(self) -> None:
        """No delivery has a place any more."""
        self._places = {}

    def lanes(self) -> set[str]:
        return {key[0] for key in self._places}

    def at(self, place: int) -> float:
        """Milliseconds from the recording's origin."""
        return self._moments[place][0]

    def key(self, place: int) -> Key:
        return self._moments[place][1]

    def turn(self, place: int) -> int | None:
        """Of its event loop, counted from what reached that before; `AT_ONCE` of what nobody waited for; None
        if unknown."""
        return self._moments[place][2]

    def next_at_once(self, lane: str) -> int | None:
        """The place of what this lane will have at once when it asks again; None if nothing is, and where
        spots say what it does before."""
        there = self._there.get(lane, ())
        while there and there[0] not in self._late:
            there.popleft()
        return there[0] if there else None

    def is_joined(self, place: int) -> bool:
        """Whether what is behind it, of another lane, reached an event loop in the same turn."""
        lane = self.key(place)[0]
        for other in range(place + 1, min(place + _TOGETHER, self.length)):
            turn = self.turn(other)
            if turn == AT_ONCE:
                continue
            if turn == 0 and self.key(other)[0] != lane and not self.is_over(other):
                return True
            if turn:
                break
        return False

    def spot(self, place: int) -> Spot:
        """Its place in that turn."""
        return self._spots[place]

    def is_end(self, place: int) -> bool:
        """Whether it is the end of a pool job: that keeps an order, but delivers nothing."""
        return self._moments[place][1][1] == pooljobs.SOURCE

    def is_over(self, place: int) -> bool:
        return bool(self._over[place])

    def play(self, place: int) -> bool:
        """It has been delivered (or will never be asked for). Whether it had been passed over."""
        late = place in self._late and self.turn(place) != AT_ONCE
        self._late.discard(place)
        self._end(place)
        return late

    def drop(self, place: int) -> None:
        """It will never be asked for. What reaches its loop next does so after the turns of both."""
        turn = self._moments[place][2]
        self.play(place)
        if turn:
            for after in range(place + 1, min(place + _NEAR, self.length)):
                at, key, more = self._moments[after]
                if more is not None and not self._over[after]:
                    both = FAR if FAR in (more, turn) else more + turn
                    self._moments[after] = at, key, both
                    return

    def pass_over(self, until: int) -> None:
        """Nobody asked for what comes before `until`: it is late from now on."""
        for place in range(self.head, until):
            if not self._over[place]:
                if not self.is_end(place):
                    self._late.add(place)
                self._over[place] = 1
        self._advance()

    def forget(self, lane: str, keep: Iterable[int]) -> None:
        """Give up what is left of a lane, but for the places in `keep`."""
        kept = set(keep)
        for place in range(self.length):
            if self._moments[place][1][0] == lane and place not in kept:
                self._late.discard(place)
                self._over[place] = 1
        self._advance()

    def _end(self, place: int) -> None:
        self._over[place] = 1
        if place == self.head:
            self._advance()

    def _advance(self) -> None:
        over, head = self._over, self.head
        while head < self.length and over[head]:
            head += 1
        self.head = head


def _named(key: Key) -> str:
    lane, kind, number, part = key
    return f"{kind} {number} of lane {lane}" + (f" (chunk {part})" if part > 0 else "")
