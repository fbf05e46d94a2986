"""What one run did and the other did not, each thing by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, overload

import msgspec

from lctl.analysis.changes import FieldChange, changes
from lctl.analysis.describe import describe
from lctl.analysis.log import model_of, text, tokens_of
from lctl.analysis.prices import Prices
from lctl.analysis.trace import Trace
from lctl.analysis.wording import plural
from lctl.events import Event

#: Seeking costs as much as reading this many events.
_NEAR = 40
#: The field in which an event names a message.
_NAMES = {"message": "parent_id", "step_start": "prompt", "step_end": "message"}

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


class Found(msgspec.Struct, frozen=True):
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

    def __init__(self, left: Trace, right: Trace, found: Sequence[Found], prices: Prices) -> None:
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

    def first(self) -> Found | None:
        return self._found[0] if self._found else None

    def numbers(self) -> dict[tuple[int, int], int]:
        """(left seq or 0, right seq or 0) -> place of the difference whose event that is."""
        mine, other = self._left.seqs, self._right.seqs
        return {
            (mine[one.left] if one.left >= 0 else 0, other[one.right] if one.right >= 0 else 0): n
            for n, one in enumerate(self._found)
        }

    def _shown(self, found: Sequence[Found]) -> Iterator[Difference]:
        mine, other = _Cursor(self._left), _Cursor(self._right)
        for one in found:
            yield self._show(one, mine.event(one.left), other.event(one.right))

    def _show(self, found: Found, left: Event | None, right: Event | None) -> Difference:
        if left is None or right is None:
            return Difference("added" if left is None else "removed", left, right, events=found.events)
        inside = changes(left, right, self._left.calls, self._right.calls)
        if found.moved:
            name = _NAMES.get(left.type, "message_id")
            inside.append(FieldChange(name, left.data.get(name), right.data.get(name)))
        if left.type == "step_end":
            inside += _cost(self._left, found.left, left, self._right, found.right, right, self._prices)
        return Difference("changed", left, right, tuple(inside), found.events)


def title(difference: Difference) -> str:
    """`- agent: what happened`, `+ ...` or `~ ...`."""
    sign = {"removed": "-", "added": "+", "changed": "~"}[difference.kind]
    event = difference.left or difference.right
    more = f" and {plural(difference.events - 1, 'event')} in it" if difference.events > 1 else ""
    return f"{sign} {describe(event) if event else ''}{more}"


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
