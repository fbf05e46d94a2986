"""What the calls of a model cost in a state: from its sums; call by call where long prompts are dearer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

from lctl.analysis.prices import Prices
from lctl.state.model import State, Step, Usage

#: Steps of a state that are gone through for it; of more, each call is taken to have used an even part.
MOST = 50_000

#: US dollars of what a model has used by a state; None when its price is not known.
Costing = Callable[[State, str, Usage], float | None]


class Calls:
    """The calls of one model as they ended, each with its own price, summed up as they went on."""

    def __init__(self, model: str, steps: Iterable[Step], prices: Prices) -> None:
        ended = sorted(
            (step.end_seq, step.end or step.start, step.tokens)
            for step in steps
            if step.model == model and step.counted and step.end_seq is not None and step.tokens is not None
        )
        self._ends = [seq for seq, _, _ in ended]
        self._read, self._cost = [0], [0.0]
        for _, at, tokens in ended:
            self._read.append(self._read[-1] + tokens.total)
            self._cost.append(self._cost[-1] + (prices.cost(model, tokens, at=at) or 0.0))

    def cost(self, seq: int, used: Usage) -> float | None:
        """US dollars of those that had ended by `seq`; None where `used` counts something else as well."""
        place = bisect_right(self._ends, seq)
        return self._cost[place] if self._read[place] == used.tokens.total else None


def cost_of(
    state: State, model: str, used: Usage, prices: Prices, calls: Calls | None = None
) -> float | None:
    """US dollars of what `used` says of `model`; None when its price is not known.

    Args:
        calls: of this model in a later state of the same log; else they are found in `state`.
    """
    at = state.last_timestamp or ""
    if not prices.is_even(model, used.tokens, used.calls, at=at) and len(state.steps) <= MOST:
        found = calls or Calls(model, state.steps.values(), prices)
        exact = found.cost(state.seq, used)
        if exact is not None:
            return exact
    return prices.of_calls(model, used.tokens, used.calls, at=at)
