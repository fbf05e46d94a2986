"""Two runs compared by what happened, not by position or time.

`diff(left, right)` lists what one run did and the other did not. What follows from a difference by
numbering alone (seqs, steps, message ids behind an inserted event) is none; nor are times, durations, ids
that anyone made up, and the interleaving of work that ran at once. Siblings that did the same count as
the same whoever came first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, overload

import msgspec

from lctl.analysis.changes import FieldChange, changes
from lctl.analysis.describe import describe, summary
from lctl.analysis.gaps import following, opposite
from lctl.analysis.log import Log, model_of, text, tokens_of
from lctl.analysis.matching import match
from lctl.analysis.prices import Prices
from lctl.analysis.reading import essences, read
from lctl.analysis.references import misplaced
from lctl.analysis.stats import Stats, stats
from lctl.analysis.trace import POOL, STEP, Trace
from lctl.analysis.wording import plain, plural
from lctl.events import Event

#: Seeking costs as much as reading this many events.
_NEAR = 40

Kind = Literal["added", "removed", "changed"]


class Difference(msgspec.Struct, frozen=True):
    """One thing one run did and the other did not, or did otherwise.

    Attributes:
        left, right: the event in either run; None on the side that has none.
        fields: what differs inside, for "changed".
        events: how many events it stands for: a step that only one run has is one difference.
    """

    kind: Kind
    left: Event | None
    right: Event | None
    fields: tuple[FieldChange, ...] = ()
    events: int = 1


class _Found(msgspec.Struct, frozen=True):
    """A difference by index, before anyone wants to see it."""

    left: int
    right: int
    moved: bool = False  # it names another message
    events: int = 1


class _Cursor:
    """Events by index, cheapest in order: one a little further on is reached by reading on."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._last = 0
        self._ahead: Iterator[Event] = iter(())

    def event(self, n: int) -> Event | None:
        """None for -1."""
        if n < 0:
            return None
        seq = self._trace.seqs[n]
        if self._last < seq <= self._last + _NEAR:
            for event in self._ahead:
                self._last = event.seq
                if event.seq == seq:
                    return event
                if event.seq > seq:
                    break
        event = self._trace.log.event(seq)
        self._last, self._ahead = seq, iter(self._trace.log.events(seq + 1))
        return event


class Differences(Sequence[Difference]):
    """Differences in the order of the left run; each is worked out from the logs when it is looked at."""

    def __init__(self, left: Trace, right: Trace, found: Sequence[_Found], prices: Prices) -> None:
        self._left = left
        self._right = right
        self._found = found
        self._prices = prices

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, at: int) -> Difference: ...
    @overload
    def __getitem__(self, at: slice) -> list[Difference]: ...
    def __getitem__(self, at: int | slice) -> Difference | list[Difference]:
        if isinstance(at, slice):
            return list(self._shown(self._found[at]))
        return next(self._shown([self._found[at]]))

    def __iter__(self) -> Iterator[Difference]:
        return self._shown(self._found)

    def first(self) -> _Found | None:
        return self._found[0] if self._found else None

    def numbers(self) -> dict[tuple[int, int], int]:
        """(left seq or 0, right seq or 0) -> place of the difference whose event that is."""
        mine, other = self._left.seqs, self._right.seqs
        return {
            (mine[one.left] if one.left >= 0 else 0, other[one.right] if one.right >= 0 else 0): n
            for n, one in enumerate(self._found)
        }

    def _shown(self, found: Sequence[_Found]) -> Iterator[Difference]:
        mine, other = _Cursor(self._left), _Cursor(self._right)
        for one in found:
            yield self._show(one, mine.event(one.left), other.event(one.right))

    def _show(self, found: _Found, left: Event | None, right: Event | None) -> Difference:
        if left is None or right is None:
            return Difference("added" if left is None else "removed", left, right, events=found.events)
        inside = changes(left, right, self._left.calls, self._right.calls)
        if found.moved:
            name = _NAMES.get(left.type, "message_id")
            inside.append(FieldChange(name, left.data.get(name), right.data.get(name)))
        if left.type == "step_end":
            inside += _cost(self._left, found.left, left, self._right, found.right, right, self._prices)
        return Difference("changed", left, right, tuple(inside), found.events)


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


#: The field in which an event names a message.
_NAMES = {"message": "parent_id", "step_start": "prompt", "step_end": "message"}


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


def title(difference: Difference) -> str:
    """`- agent: what happened`, `+ ...` or `~ ...`."""
    sign = {"removed": "-", "added": "+", "changed": "~"}[difference.kind]
    event = difference.left or difference.right
    more = f" and {plural(difference.events - 1, 'event')} in it" if difference.events > 1 else ""
    return f"{sign} {describe(event) if event else ''}{more}"


def _differences(
    left: Trace,
    right: Trace,
    pairs: Sequence[int],
    other_pairs: Sequence[int],
    moved: set[int],
) -> list[_Found]:
    """In the order of the left; what only the right has comes after what it followed there, and what the left
    did instead."""
    found: list[tuple[tuple[int, int, int], _Found]] = []
    keys, other_keys = left.keys, right.keys
    unlike = {n for n, m in enumerate(pairs) if m >= 0 and keys[n] != other_keys[m]}
    mine, other = essences(left, unlike), essences(right, {pairs[n] for n in unlike})
    for n in sorted(unlike | moved):
        same = n not in unlike or mine[n] == other[pairs[n]]
        found += [((n, 0, 0), one) for one in _changed(left, right, n, pairs[n], n in moved, same)]
    for n, events in _only(left, pairs).items():
        found.append(((n, 0, 0), _Found(n, -1, events=events)))
    alone = _only(right, other_pairs)
    if alone:
        found += [
            ((after, 1, m), _Found(-1, m, events=alone[m]))
            for m, after in following(pairs, other_pairs)
            if m in alone
        ]
    found.sort(key=lambda one: one[0])
    return [one for _, one in found]


def _changed(left: Trace, right: Trace, n: int, m: int, moved: bool, same: bool) -> list[_Found]:
    """`same`: in essence, of which keys are finer."""
    alike = left.classes[n] == POOL or left.agents[n] == right.agents[m]
    if same and alike and not moved:
        return []
    if not same and not alike:
        return [_Found(n, -1), _Found(-1, m)]  # two events and not one under another name
    return [_Found(n, m, moved)]


def _only(trace: Trace, pairs: Sequence[int]) -> dict[int, int]:
    """Unmatched events, by index, with how many unmatched ones each stands for."""
    heads: dict[int, int] = {}
    counts: dict[int, int] = {}
    for n, m in enumerate(pairs):
        if m >= 0:
            continue
        owner = trace.owners[n]
        head = heads.get(owner, n)
        if trace.classes[n] == STEP:
            heads[n] = head
        counts[head] = counts.get(head, 0) + 1
    return counts


def _cost(
    left: Trace, n: int, event: Event, right: Trace, m: int, other: Event, prices: Prices
) -> list[FieldChange]:
    mine, theirs = _priced(left, n, event, prices), _priced(right, m, other, prices)
    return [] if mine == theirs else [FieldChange("cost", mine, theirs)]


def _priced(trace: Trace, n: int, event: Event, prices: Prices) -> float | None:
    tokens = tokens_of(event.data)
    if tokens is None:
        return None
    owner = trace.owners[n]
    start = trace.log.event(trace.seqs[owner]).data if owner >= 0 else {}
    model = model_of(event.data) or model_of(start)
    return prices.cost(model, tokens, provider=text(start.get("provider")) or None, at=event.timestamp)
