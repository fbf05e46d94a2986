"""Tokens and cost of one Claude process: what its model calls have told, and what only a turn's end tells."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.usage import read_tokens
from lctl_integrations.claude_chains import Chain, mapping

#: Counts by model of a `result` -> as the API has them.
_BY_MODEL = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
    "cacheCreationInputTokens": "cache_creation_input_tokens",
}


def counted(chain: Chain) -> dict[str, int]:
    """Tokens of the chain's model call, as far as its own messages tell."""
    usage = chain.usage if chain.final else {k: v for k, v in chain.usage.items() if k != "output_tokens"}
    return read_tokens(usage, cache_apart=True) or {}


class Told:
    """What has been told since the process began, and of the main conversation's turn without sub-agents'."""

    def __init__(self) -> None:
        self._all: dict[str, int] = {}
        self._main: dict[str, int] = {}
        self._cost = 0.0

    def add(self, tokens: dict[str, int], main: bool) -> None:
        for name, count in tokens.items():
            self._all[name] = self._all.get(name, 0) + count
            if main:
                self._main[name] = self._main.get(name, 0) + count

    def end_turn(self) -> None:
        self._main = {}

    def cost_of(self, total: float) -> float:
        """The turn's; what is told counts from the begin of the process."""
        cost, self._cost = round(total - self._cost, 9), total
        return cost

    def rest(
        self, usage: dict[str, Any], models: dict[str, Any], under_way: dict[str, int]
    ) -> dict[str, int] | None:
        """Tokens of the turn that no model call has told, nor the one `under_way`.

        The counts by model are those of the whole process, sub-agents included; the others are the main
        conversation's in this turn.
        """
        by_model = [mapping(one) for one in models.values()]
        if any("outputTokens" in one for one in by_model):
            counts = {
                own: sum(int(one.get(name) or 0) for one in by_model) for name, own in _BY_MODEL.items()
            }
            total, told = read_tokens(counts, cache_apart=True) or {}, self._all
        else:
            total, told = read_tokens(usage, cache_apart=True) or {}, self._main
        rest = {name: count - told.get(name, 0) - under_way.get(name, 0) for name, count in total.items()}
        rest = {name: count for name, count in rest.items() if count > 0}
        self.add(rest, main=False)
        return rest or None
