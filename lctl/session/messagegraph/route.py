"""The path a graph is on: ids of messages in order, those of carried copies not spelled out.

Copies below message `m7` are `m7+1`, `m7+2` and so on. So a path is kept as runs of (base, first offset,
length), and an edit near the top of a long one puts one run where thousands of ids would be.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterator

#: (base, offset): the message `base` itself at offset 0, its carried copies after that.
Position = tuple[str, int]


def id_of(position: Position) -> str:
    base, offset = position
    return f"{base}+{offset}" if offset else base


def position_of(id: str | None) -> Position | None:
    """What `id_of` made the id of."""
    if id is None:
        return None
    base, _, offset = id.partition("+")
    return base, int(offset or 0)


class Route:
    """Positions from the root of a conversation to its tip."""

    __slots__ = ("_runs", "_starts", "length")

    def __init__(self) -> None:
        self._runs: list[tuple[str, int, int]] = []
        self._starts: list[int] = []
        self.length = 0

    def __len__(self) -> int:
        return self.length

    def copy(self) -> Route:
        made = Route()
        made._runs, made._starts, made.length = self._runs[:], self._starts[:], self.length
        return made

    def at(self, index: int) -> Position:
        """The position at `index`, which is from 0 to the length."""
        n = bisect_right(self._starts, index) - 1
        base, offset, _ = self._runs[n]
        return base, offset + index - self._starts[n]

    def id(self, index: int) -> str:
        return id_of(self.at(index))

    @property
    def last(self) -> Position | None:
        if not self._runs:
            return None
        base, offset, length = self._runs[-1]
        return base, offset + length - 1

    @property
    def tip(self) -> str | None:
        """Id of the last message; None of an empty path."""
        last = self.last
        return None if last is None else id_of(last)

    def positions(self, start: int = 0) -> Iterator[Position]:
        """From `start` on."""
        if start >= self.length:
            return
        first = bisect_right(self._starts, start) - 1
        for n in range(first, len(self._runs)):
            base, offset, length = self._runs[n]
            skip = start - self._starts[n] if n == first else 0
            for at in range(offset + skip, offset + length):
                yield base, at

    def cut(self, length: int) -> None:
        """Forget what comes after the first `length`."""
        if length >= self.length:
            return
        n = bisect_right(self._starts, length) - 1
        left = length - self._starts[n]
        base, offset, _ = self._runs[n]
        del self._runs[n:], self._starts[n:]
        self.length = length - left
        if left:
            self.add(base, offset, left)

    def add(self, base: str, offset: int, length: int = 1) -> None:
        """Go on with `length` positions of `base`."""
        if self._runs:
            before, start, count = self._runs[-1]
            if before == base and start + count == offset:
                self._runs[-1] = (base, start, count + length)
                self.length += length
                return
        self._runs.append((base, offset, length))
        self._starts.append(self.length)
        self.length += length

    def common(self, other: Route) -> int:
        """How many positions both begin with."""
        shared = 0
        for mine, theirs in zip(self._runs, other._runs, strict=False):
            if mine == theirs:
                shared += mine[2]
            else:
                return shared + (min(mine[2], theirs[2]) if mine[:2] == theirs[:2] else 0)
        return shared

    def last_of(self, ids: Container[str], start: int = 0) -> int:
        """Index of the last message from `start` on that has its own event and is in `ids`; -1: none."""
        for n in range(len(self._runs) - 1, -1, -1):
            if self._starts[n] < start:
                break
            base, offset, _ = self._runs[n]
            if offset == 0 and base in ids:
                return self._starts[n]
        return -1

    def own(self, stop: int) -> Iterator[str]:
        """Ids of the messages among the first `stop` that are no carried copies."""
        for (base, offset, _), start in zip(self._runs, self._starts, strict=True):
            if start >= stop:
                return
            if offset == 0:
                yield base
