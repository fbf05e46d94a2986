"""Two runs compared by what happened, not by position or time.

`diff(left, right)` lists what one run did and the other did not. What follows from a difference by
numbering alone (seqs, steps, message ids behind an inserted event) is none; nor are times, durations, ids
that anyone made up, and the interleaving of work that ran at once. Siblings that did the same count as
the same whoever came first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from lctl.analysis.describe import describe, summary
from lctl.analysis.differences import Difference, Differences, Found
from lctl.analysis.gaps import following, opposite
from lctl.analysis.log import Log
from lctl.analysis.matching import match
from lctl.analysis.prices import Prices
from lctl.analysis.reading import essences, read
from lctl.analysis.references import misplaced
from lctl.analysis.stats import Stats, stats
from lctl.analysis.trace import ORDER, POOLED, STEP, Trace
from lctl.analysis.wording import plain, plural
from lctl.events import Event


class Diff:
    """The comparison of two runs.

    Attributes:
        differences: in the order of the left run.
        equal: events that are the same in both.
    """

    def __init__(
        self,
        logs: tuple[Log, Log],
        traces: tuple[Trace, Trace],
        pairs: tuple[Sequence[int], Sequence[int]],
        differences: Differences,
        equal: int,
        prices: Prices,
    ) -> None:
        self.differences = differences
        self.equal = equal
        self._logs = logs
        self._traces = traces
        self._pairs = pairs
        self._prices = prices

    def pairs(self) -> Iterator[tuple[int, int]]:
        """(left seq, right seq) of all events, 0 where a side has none, in the order of the left run; what
        only the right one has comes behind what it followed there, and what the left one did instead."""
        (mine, other), (pairs, other_pairs) = self._traces, self._pairs
        behind: dict[int, list[int]] = {}
        for m, after in following(pairs, other_pairs):
            behind.setdefault(after, []).append(other.seqs[m])
        for seq in behind.get(-1, ()):
            yield 0, seq
        for n, m in enumerate(pairs):
            yield mine.seqs[n], other.seqs[m] if m >= 0 else 0
            for seq in behind.get(n, ()):
                yield 0, seq

    @cached_property
    def first_divergence(self) -> Difference | None:
        """The earliest difference; None when the runs are the same."""
        return self.differences[0] if self.differences else None

    @cached_property
    def instead(self) -> Event | None:
        """What the run that lacks the first divergence did in its place, and the other one did not; None
        where it did nothing else there."""
        first = self.differences.first()
        (mine, other), (pairs, other_pairs) = self._traces, self._pairs
        if first is None or (first.left >= 0 and first.right >= 0):
            return None
        if first.left >= 0:
            m = opposite(first.left, pairs, other_pairs)
            return other.log.event(other.seqs[m]) if m >= 0 else None
        n = opposite(first.right, other_pairs, pairs)
        return mine.log.event(mine.seqs[n]) if n >= 0 else None

    @cached_property
    def left(self) -> Stats:
        """Totals of the left run: tokens, cost, duration and the rest."""
        return stats(self._logs[0], self._prices)

    @cached_property
    def right(self) -> Stats:
        """Totals of the right run."""
        return stats(self._logs[1], self._prices)

    def __bool__(self) -> bool:
        """There is a difference."""
        return len(self.differences) > 0


def diff(left: Log, right: Log, prices: Prices | None = None) -> Diff:
    """Compare two runs."""
    prices = prices or Prices()
    mine, other = read(left), read(right)
    pairs, other_pairs = match(mine, other)
    moved = misplaced(mine, other, pairs)
    found = _differences(mine, other, pairs, other_pairs, moved)
    paired = len(pairs) - pairs.count(-1)
    changed = sum(one.left >= 0 and one.right >= 0 for one in found)
    differences = Differences(mine, other, found, prices)
    return Diff((left, right), (mine, other), (pairs, other_pairs), differences, paired - changed, prices)


def lines(value: Diff, names: tuple[str, str] = ("v1", "v2")) -> list[str]:
    """The first divergence as the protocol's own example prints it."""
    first = value.first_divergence
    if first is None:
        return [f"No difference in {plural(value.equal, 'event')}."]
    at = first.left or first.right
    sides = (first.left or value.instead, first.right or value.instead)
    texts = [_line(side) for side in sides]
    if first.kind != "changed" and texts[0] == texts[1]:
        texts = [describe(side) for side in sides if side]
    if first.left is not None and first.right is not None and texts[0] == texts[1] and first.fields:
        change = first.fields[0]
        texts = [f"{texts[0]} {change.path}: {plain(side, 60)}" for side in (change.left, change.right)]
    return [
        f"Events diverged at seq {at.seq if at else 0}:",
        f"  {names[0]}: {texts[0]}",
        f"  {names[1]}: {texts[1]} [DIFFERENT]",
    ]


def _line(event: Event | None) -> str:
    return "(nothing)" if event is None else summary(event)


def _differences(
    left: Trace,
    right: Trace,
    pairs: Sequence[int],
    other_pairs: Sequence[int],
    moved: set[int],
) -> list[Found]:
    """In the order of the left; what only the right has comes after what it followed there, and what the left
    did instead."""
    found: list[tuple[tuple[int, int, int], Found]] = []
    keys, other_keys = left.keys, right.keys
    unlike = {n for n, m in enumerate(pairs) if m >= 0 and keys[n] != other_keys[m]}
    mine, other = essences(left, unlike), essences(right, {pairs[n] for n in unlike})
    for n in sorted(unlike | moved):
        same = n not in unlike or mine[n] == other[pairs[n]]
        found += [((n, 0, 0), one) for one in _changed(left, right, n, pairs[n], n in moved, same)]
    for n, events in _only(left, pairs).items():
        found.append(((n, 0, 0), Found(n, -1, events=events)))
    alone = _only(right, other_pairs)
    if alone:
        found += [
            ((after, 1, m), Found(-1, m, events=alone[m]))
            for m, after in following(pairs, other_pairs)
            if m in alone
        ]
    found.sort(key=lambda one: one[0])
    return [one for _, one in found]


def _changed(left: Trace, right: Trace, n: int, m: int, moved: bool, same: bool) -> list[Found]:
    """`same`: in essence, of which keys are finer."""
    alike = left.classes[n] in POOLED or left.agents[n] == right.agents[m]
    if same and alike and not moved:
        return []
    if not same and not alike:
        return [Found(n, -1), Found(-1, m)]  # two events and not one under another name
    return [Found(n, m, moved)]


def _only(trace: Trace, pairs: Sequence[int]) -> dict[int, int]:
    """Unmatched events, by index, with how many unmatched ones each stands for."""
    heads: dict[int, int] = {}
    counts: dict[int, int] = {}
    for n, m in enumerate(pairs):
        if m >= 0 or trace.classes[n] == ORDER:
            continue
        owner = trace.owners[n]
        head = heads.get(owner, n)
        if trace.classes[n] == STEP:
            heads[n] = head
        counts[head] = counts.get(head, 0) + 1
    return counts
