"""What tokens cost."""

from __future__ import annotations

from typing import Any

import pytest
from genai_prices import Usage, calc_price
from hypothesis import given
from hypothesis import strategies as st

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


def test_a_cache_kept_for_an_hour_costs_twice_the_input(prices: Prices) -> None:
    """3.75 dollars a million for five minutes, 6.00 for an hour; searches are 10 dollars a thousand."""
    model, at = "claude-sonnet-4-20250514", "2025-06-01T00:00:00Z"
    written = Tokens(input=100_000, cache_write=100_000, cache_write_1h=60_000)
    assert prices.cost(model, written, at=at) == pytest.approx(0.04 * 3.75 + 0.06 * 6)
    assert prices.cost(model, Tokens(web_searches=7), at=at) == pytest.approx(0.07)


def test_sound_and_images_have_their_own_prices(prices: Prices) -> None:
    """gpt-realtime: 4 dollars a million read, 32 heard, 0.40 cached either way, 16 written, 64 spoken."""
    heard = Tokens(input=100_000, cache_read=50_000, input_audio=80_000, cache_read_audio=40_000)
    paid = 0.01 * 4 + 0.04 * 32 + 0.05 * 0.4
    assert prices.cost("gpt-realtime", heard) == pytest.approx(paid)
    spoken = Tokens(output=100_000, output_audio=75_000)
    assert prices.cost("gpt-realtime", spoken) == pytest.approx(0.025 * 16 + 0.075 * 64)
    drawn = Tokens(output=1300, output_image=1290)
    assert prices.cost("gemini-2.5-flash-image", drawn) == pytest.approx((10 * 2.5 + 1290 * 30) / 1e6)
    assert prices.cost("gpt-4o-mini", Tokens(output=10, output_audio=10)) == pytest.approx(
        6e-6
    )  # none of its own


@given(
    st.sampled_from(["claude-opus-4-5", "gpt-realtime", "gemini-2.5-flash", "gemini-2.0-flash", "gpt-4o"]),
    st.lists(st.integers(0, 2000), min_size=9, max_size=9),
)
def test_costs_are_those_of_the_list(prices: Prices, model: str, sizes: list[int]) -> None:
    """What genai-prices says of the same counts."""
    fresh, written, kept, read, heard, again, out, said, thought = sizes
    tokens = Tokens(
        input=fresh + written + kept + read + heard + again,
        output=out + said + thought,
        cache_read=read + again,
        cache_write=written + kept,
        reasoning=thought,
        cache_write_1h=kept,
        input_audio=heard + again,
        cache_read_audio=again,
        output_audio=said,
    )
    usage: dict[str, Any] = {
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "cache_write_1h_tokens": kept,
        "input_audio_tokens": tokens.input_audio,
        "cache_audio_read_tokens": again,
        "output_audio_tokens": said,
    }
    listed = calc_price(Usage(**usage), model).total_price
    assert prices.cost(model, tokens) == pytest.approx(float(listed))


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
