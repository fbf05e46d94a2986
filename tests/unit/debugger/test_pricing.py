"""Prices asked of a process are those of the list."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lctl.analysis.prices import Prices
from lctl.debugger.pricing import AskedPrices, shared
from lctl.state.model import Tokens

_AT = "2026-01-01T10:30:00Z"


@pytest.mark.parametrize(
    "model", ["gpt-4.1-mini", "claude-sonnet-4-5", "gemini-2.5-pro", "no-such-model", None]
)
def test_the_same_costs(model: str | None) -> None:
    """Of models with one rate, with tiers, and of none; asked twice, and for many calls together."""
    own, asked = Prices(), shared()
    for tokens in (Tokens(input=1000, output=50), Tokens(input=900_000, output=50, cache_read=1000)):
        for _ in range(2):
            assert asked.cost(model, tokens, at=_AT) == own.cost(model, tokens, at=_AT)
        assert asked.of_calls(model, tokens, 30, at=_AT) == own.of_calls(model, tokens, 30, at=_AT)


def test_many_short_calls_are_not_priced_as_one_long_one() -> None:
    """Where long prompts are dearer, what counts is each call's prompt."""
    prices, each = Prices(), Tokens(input=100_000, output=100)
    one = prices.cost("claude-sonnet-4-5", each, at=_AT)
    together = Tokens(input=1_000_000, output=1000)
    assert one is not None
    assert prices.of_calls("claude-sonnet-4-5", together, 10, at=_AT) == pytest.approx(10 * one)
    assert (prices.cost("claude-sonnet-4-5", together, at=_AT) or 0) > 10 * one


def test_without_a_process_the_list_is_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be started, or ends at once."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    tokens = Tokens(input=1000)
    assert AskedPrices().cost("gpt-4.1-mini", tokens) == Prices().cost("gpt-4.1-mini", tokens)


def test_the_server_does_not_load_the_list() -> None:
    """It is large; an answer with costs in it needs none of it here."""
    code = (
        "import sys; from lctl.debugger.pricing import AskedPrices; from lctl.state.model import Tokens\n"
        "assert AskedPrices().of_calls('gpt-4.1-mini', Tokens(input=5000), 5) > 0\n"
        "sys.exit('genai_prices' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
