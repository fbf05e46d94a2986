"""What tokens cost."""

from __future__ import annotations

import pytest

from lctl.analysis.prices import Prices
from lctl.state.model import Tokens

_MILLION = 1_000_000


@pytest.fixture(scope="module")
def prices() -> Prices:
    """The price list is loaded once for all tests."""
    return Prices()


def test_input_output_and_cache_have_their_own_prices(prices: Prices) -> None:
    """gpt-4o: 2.50, 10.00 and 1.25 dollars a million; the cached part of the input is not paid twice."""
    at = "2025-06-01T00:00:00Z"
    assert prices.cost("gpt-4o", Tokens(input=_MILLION), at=at) == pytest.approx(2.5)
    assert prices.cost("gpt-4o", Tokens(output=_MILLION), at=at) == pytest.approx(10)
    assert prices.cost("gpt-4o", Tokens(input=_MILLION, cache_read=_MILLION), at=at) == pytest.approx(1.25)
    mixed = Tokens(input=1000, output=500, cache_read=200)
    assert prices.cost("gpt-4o", mixed, at=at) == pytest.approx(0.00725)


def test_cache_writes_of_anthropic_cost_more_than_input(prices: Prices) -> None:
    """3.00 a million read, 3.75 written to the cache, 0.30 read from it."""
    model, at = "claude-sonnet-4-20250514", "2025-06-01T00:00:00Z"
    assert prices.cost(model, Tokens(input=100_000, cache_write=100_000), at=at) == pytest.approx(0.375)
    assert prices.cost(model, Tokens(input=100_000, cache_read=100_000), at=at) == pytest.approx(0.03)


def test_reasoning_is_a_part_of_the_output(prices: Prices) -> None:
    """Not paid on top of it."""
    plain = prices.cost("o3-mini", Tokens(output=1000))
    assert prices.cost("o3-mini", Tokens(output=1000, reasoning=900)) == plain


def test_an_unknown_model_has_no_cost(prices: Prices) -> None:
    """None, so that nobody takes it for free."""
    assert prices.cost("my-own-7b", Tokens(input=10), provider="openai") is None
    assert prices.cost(None, Tokens(input=10)) is None
    assert prices.cost("", Tokens(input=10), provider="", url="not a url") is None


@pytest.mark.parametrize("model", ["text-embedding-3-small", "text-embedding-ada-002", "embed-v4.0"])
def test_the_name_of_an_embedding_model_is_enough(prices: Prices, model: str) -> None:
    """Listings know of a run no more than the names: one that embeds costs what its statistics say."""
    tokens = Tokens(input=_MILLION)
    provider = "cohere" if model == "embed-v4.0" else "openai"
    said = prices.cost(model, tokens, provider=provider)
    assert said is not None and said > 0
    assert prices.of_calls(model, tokens, 1) == said


def test_the_price_is_that_of_the_day(prices: Prices) -> None:
    """o3 became cheaper in June 2025."""
    before = prices.cost("o3", Tokens(input=_MILLION), at="2025-05-01T00:00:00Z")
    after = prices.cost("o3", Tokens(input=_MILLION), at="2025-07-01T00:00:00Z")
    assert (before, after) == (10.0, 2.0)
    assert prices.cost("o3", Tokens(input=_MILLION), at="no time") == after


def test_the_address_says_who_is_paid(prices: Prices) -> None:
    """Many speak OpenAI's format; the same model costs another sum elsewhere."""
    url = "https://openrouter.ai/api/v1/chat/completions"
    tokens = Tokens(input=_MILLION, cache_read=_MILLION)
    here = prices.cost("openai/gpt-4o", tokens, provider="openai", url=url)
    assert here is not None
    assert (
        prices.cost("gpt-4o", Tokens(input=_MILLION), provider="nobody", url="http://127.0.0.1:1/v1") == 2.5
    )


def test_a_long_prompt_may_have_a_price_of_its_own(prices: Prices) -> None:
    """Gemini 2.5 Pro: twice the price a token beyond 200,000."""
    at = "2025-09-01T00:00:00Z"
    short = prices.cost("gemini-2.5-pro", Tokens(input=100_000), at=at)
    long = prices.cost("gemini-2.5-pro", Tokens(input=400_000), at=at)
    assert short is not None and long is not None
    assert long == pytest.approx(8 * short)


def test_counts_that_contradict_themselves_are_priced_as_they_can_be(prices: Prices) -> None:
    """More read from the cache than went in: no negative rest."""
    assert prices.cost("gpt-4o", Tokens(input=10, cache_read=1000)) == pytest.approx(1000 * 1.25e-6)
    assert prices.cost("gemini-2.5-pro", Tokens(input=10, cache_read=1000)) is not None


def test_a_saving_is_the_difference_the_cache_makes(prices: Prices) -> None:
    """And unknown where the price is."""
    assert prices.cached_saving("gpt-4o", _MILLION) == pytest.approx(1.25)
    assert prices.cached_saving("my-own-7b", _MILLION) is None
