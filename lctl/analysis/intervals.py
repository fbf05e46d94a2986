"""Arithmetic of time intervals: unions, and whose time a moment is when steps nest and overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: (start, end) in milliseconds, start <= end.
Interval = tuple[float, float]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """The same moments as disjoint intervals, in order."""
    merged: list[Interval] = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            if end > merged[-1][1]:
                merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def length(intervals: Iterable[Interval]) -> float:
    """Time covered, each moment counted once."""
    return sum(end - start for start, end in union(intervals))


def clip(intervals: Iterable[Interval], within: Interval) -> list[Interval]:
    """The parts inside `within`; empty ones left out."""
    low, high = within
    return [(max(a, low), min(b, high)) for a, b in intervals if a < high and b > low]


def shares(intervals: Sequence[Interval], parents: Sequence[int | None]) -> list[float]:
    """Each interval's exclusive time: every moment is given to those that run without a running
    descendant, in equal parts. So the sum over all is the union's length, however they nest or overlap.

    Args:
        parents: index of the interval each is nested in, or None; no cycles. A child may outlive its parent.
    """
    frontier = _Frontier(intervals, parents)
    changes: list[tuple[float, int, int]] = []
    for n, (start, end) in enumerate(intervals):
        if end > start:
            changes += [(start, 1, n), (end, 0, n)]
    changes.sort()
    for at, begins, n in changes:
        frontier.move_to(at)
        if begins:
            frontier.begin(n)
        else:
            frontier.end(n)
    return frontier.exclusive


class _Frontier:
    """A sweep over time. `_paid` is what one member of the frontier would have got since the beginning,
    so each change costs as much as the ancestors it touches and not as much as the frontier is wide."""

    def __init__(self, intervals: Sequence[Interval], parents: Sequence[int | None]) -> None:
        count = len(intervals)
        self.exclusive = [0.0] * count
        self._parents = parents
        self._running = [False] * count
        self._alive_children = [0] * count
        self._joined: dict[int, float] = {}
        self._paid = 0.0
        self._now = 0.0

    def move_to(self, at: float) -> None:
        if self._joined:
            self._paid += (at - self._now) / len(self._joined)
        self._now = at

    def begin(self, n: int) -> None:
        alive = self._alive_children[n] > 0
        self._running[n] = True
        if not alive:
            self._join(n)
            self._tell_ancestors(n, 1)

    def end(self, n: int) -> None:
        self._leave(n)
        self._running[n] = False
        if self._alive_children[n] == 0:
            self._tell_ancestors(n, -1)

    def _tell_ancestors(self, n: int, change: int) -> None:
        """`n` began or ceased to be alive: running, or with a descendant that is. Goes up as far as that
        is news."""
        parent = self._parents[n]
        while parent is not None:
            alive = self._alive_children[parent] = self._alive_children[parent] + change
            others = alive - 1 if change > 0 else alive
            if self._running[parent]:
                if others == 0:
                    self._leave(parent) if change > 0 else self._join(parent)
                return
            if others:
                return
            parent = self._parents[parent]

    def _join(self, n: int) -> None:
        self._joined[n] = self._paid

    def _leave(self, n: int) -> None:
        joined = self._joined.pop(n, None)
        if joined is not None:
            self.exclusive[n] += self._paid - joined


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value below which `share` (0 to 1) of the values lie, between neighbours by line; None of none."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
