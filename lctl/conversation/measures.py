"""What a session has used: turns, tokens, cost; each sum with the seq that made it true."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

from lctl.values import whole_number

#: Our name of a count, and what providers and other recorders call it.
_NAMES = (
    ("input", ("input", "input_tokens", "prompt_tokens", "inputTokens")),
    ("output", ("output", "output_tokens", "completion_tokens", "outputTokens")),
    ("cached", ("cache_read", "cached", "cached_tokens", "cached_input_tokens", "cachedInputTokens")),
)


class Totals(NamedTuple):
    """Sums over the steps of a session.

    Attributes:
        turns: steps that ended, well or in an error; those that were left do not count.
        input, output: tokens; `input` holds the cached ones.
        cached: of the input, what the provider had read before.
        cost: as the steps state it, in their currency; None while none does (0 is a price).
        failed: turns that ended in an error.
    """

    turns: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float | None = None
    failed: int = 0

    def plus(self, other: Totals) -> Totals:
        cost = self.cost if other.cost is None else other.cost + (self.cost or 0)
        return Totals(
            self.turns + other.turns,
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            cost,
            self.failed + other.failed,
        )

    def less(self, other: Totals) -> Totals:
        """What came on top of `other`."""
        return Totals(
            self.turns - other.turns,
            self.input - other.input,
            self.output - other.output,
            self.cached - other.cached,
            None if self.cost is None else self.cost - (other.cost or 0),
            self.failed - other.failed,
        )


class Usage(NamedTuple):
    """What one step says it used; None where it says nothing."""

    tokens: tuple[int, int, int] | None = None
    cost: float | None = None


def usage_of(data: Mapping[str, Any]) -> Usage:
    """Tokens and cost in the data of a `step_end`, under any provider's names."""
    stated = data.get("tokens")
    if not isinstance(stated, Mapping):
        stated = data.get("usage")
    if not isinstance(stated, Mapping):
        return Usage(None, _amount(data.get("cost")))
    counts = [_count(stated, names) for _, names in _NAMES]
    tokens = None if all(count is None for count in counts) else tuple(count or 0 for count in counts)
    cost = _amount(data["cost"] if "cost" in data else stated.get("cost"))
    return Usage(tokens, cost)  # type: ignore[arg-type]


def _count(stated: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = whole_number(stated.get(name))
        if value is not None:
            return value
    return None


def _amount(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


class Meter:
    """Running sums of one session. Of a step that states what the steps inside it have stated already,
    the inner ones count."""

    __slots__ = ("_counted", "_covered", "_now", "_seqs", "_values")

    def __init__(self) -> None:
        self._now = Totals()
        self._seqs: list[int] = []
        self._values: list[Totals] = []
        #: (step, 0 for tokens or 1 for cost): what it counts for; or that something inside it does.
        self._counted: dict[tuple[int, int], Any] = {}
        self._covered: set[tuple[int, int]] = set()

    def at(self, seq: int) -> Totals:
        n = bisect_right(self._seqs, seq)
        return self._values[n - 1] if n else Totals()

    def add(self, seq: int, usage: Usage, above: list[int], *, turn: bool, failed: bool) -> None:
        """The end of a step. `above`: itself, then the steps around it, innermost first."""
        turns, read, written, cached, cost, failures = self._now
        if usage.tokens is not None:
            read, written, cached = self._count(0, usage.tokens, (read, written, cached), above)
        if usage.cost is not None:
            (cost,) = self._count(1, (usage.cost,), (cost,), above)
        self._now = Totals(turns + turn, read, written, cached, cost, failures + (turn and failed))
        self._seqs.append(seq)
        self._values.append(self._now)

    def _count(self, kind: int, stated: tuple[Any, ...], sums: tuple[Any, ...], above: list[int]) -> Any:
        step = above[0] if above else 0
        if (step, kind) in self._covered:
            return sums
        sums = tuple((one or 0) + more for one, more in zip(sums, stated, strict=True))
        if step:
            self._counted[step, kind] = stated
        for outer in above[1:]:
            if (outer, kind) in self._covered:
                break
            self._covered.add((outer, kind))
            before = self._counted.pop((outer, kind), None)
            if before is not None:  # it ended before what is inside it
                sums = tuple(one - less for one, less in zip(sums, before, strict=True))
        return sums
