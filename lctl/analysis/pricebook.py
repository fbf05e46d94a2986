"""What one model costs, now and then, for short prompts and long ones: plain data, worked out once from the
list of genai-prices and quick to load again."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from lctl.state.model import Tokens

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

#: One million tokens: unit prices are read off the list at this count to lose no digits.
_PROBE = 1_000_000


class Rates(msgspec.Struct, frozen=True, array_like=True):
    """US dollars per token, per call, and per search of the provider's."""

    call: float
    input: float
    cache_read: float
    cache_write: float
    output: float
    reasoning: float
    cache_write_1h: float
    input_audio: float
    cache_read_audio: float
    output_audio: float
    output_image: float
    search: float

    def cost(self, tokens: Tokens) -> float:
        fresh = max(0, tokens.input - tokens.cache_read - tokens.cache_write)
        plain = (
            self.call
            + fresh * self.input
            + tokens.cache_read * self.cache_read
            + tokens.cache_write * self.cache_write
            + max(0, tokens.output - tokens.reasoning) * self.output
            + min(tokens.reasoning, tokens.output) * self.reasoning
        )
        return plain if tokens.rare is None else plain + self._rare(tokens)

    def _rare(self, tokens: Tokens) -> float:
        """How much dearer, or cheaper, some tokens are than the rest of their kind; and searches."""
        heard_again = min(tokens.cache_read_audio, tokens.cache_read)
        return (
            min(tokens.cache_write_1h, tokens.cache_write) * (self.cache_write_1h - self.cache_write)
            + max(0, min(tokens.input_audio, tokens.input) - heard_again) * (self.input_audio - self.input)
            + heard_again * (self.cache_read_audio - self.cache_read)
            + min(tokens.output_audio, tokens.output) * (self.output_audio - self.output)
            + min(tokens.output_image, tokens.output) * (self.output_image - self.output)
            + tokens.web_searches * self.search
        )


class Span(msgspec.Struct, frozen=True, array_like=True):
    """Prices that hold since a day, or for some hours of each (UTC).

    Attributes:
        bands: (tokens, rates): those of the calls that read more than so many tokens; shortest first.
    """

    since: date | None
    hours: tuple[time, time] | None
    bands: tuple[tuple[int, Rates], ...]

    def holds(self, moment: datetime) -> bool:
        if self.since is not None:
            return moment.date() >= self.since
        if self.hours is None:
            return True
        begin, end = self.hours
        now = moment.time()
        return begin <= now < end if begin <= end else now >= begin or now < end


class Book(msgspec.Struct, frozen=True, array_like=True):
    """The prices of one model. Of spans that hold the last one counts, and the first where none does."""

    spans: tuple[Span, ...]

    def rates(self, moment: datetime, read: int) -> Rates:
        """Those of a call that read so many tokens then."""
        bands = self._span(moment).bands
        return next((rates for above, rates in reversed(bands) if read > above), bands[0][1])

    def evenness(self, moment: datetime) -> int | None:
        """Up to how many tokens read a token's price does not depend on them; None: always."""
        bands = self._span(moment).bands
        return bands[1][0] if len(bands) > 1 else None

    def _span(self, moment: datetime) -> Span:
        moment = moment.astimezone(UTC)
        return next((span for span in reversed(self.spans) if span.holds(moment)), self.spans[0])


def book_of(model: ModelInfo) -> Book | None:
    """None where the list has no price for it, or one that this cannot say."""
    prices: Any = model.prices
    listed = [(None, prices)] if not isinstance(prices, list) else [(p.constraint, p.prices) for p in prices]
    try:
        return Book(tuple(_span(constraint, price) for constraint, price in listed)) if listed else None
    except (LookupError, ValueError, AttributeError):
        return None


def _span(constraint: Any, price: ModelPrice) -> Span:
    bands = tuple(
        (above, _rates(price, until or above + _PROBE))
        for above, until in pairwise([0, *_thresholds(price), None])
        if above is not None
    )
    if constraint is None:
        return Span(None, None, bands)
    if hasattr(constraint, "start_date"):
        return Span(constraint.start_date, None, bands)
    return Span(None, (_utc(constraint.start_time), _utc(constraint.end_time)), bands)


def _thresholds(price: ModelPrice) -> list[int]:
    from genai_prices.types import TieredPrices

    tiered = [value for value in vars(price).values() if isinstance(value, TieredPrices)]
    return sorted({tier.start for value in tiered for tier in value.tiers})


def _rates(price: ModelPrice, read: int) -> Rates:
    """Per token, of calls that read `read` tokens."""
    call, inputs = _dollars(price), _dollars(price, input_tokens=read)

    def of_input(**kind: int) -> float:
        return float((_dollars(price, input_tokens=read, **kind) - call) / read)

    def of_output(**kind: int) -> float:
        return float((_dollars(price, input_tokens=read, output_tokens=_PROBE, **kind) - inputs) / _PROBE)

    return Rates(
        call=float(call),
        input=of_input(),
        cache_read=of_input(cache_read_tokens=read),
        cache_write=of_input(cache_write_tokens=read),
        output=of_output(),
        reasoning=of_output(output_reasoning_tokens=_PROBE),
        cache_write_1h=of_input(cache_write_tokens=read, cache_write_1h_tokens=read),
        input_audio=of_input(input_audio_tokens=read),
        cache_read_audio=of_input(
            cache_read_tokens=read, input_audio_tokens=read, cache_audio_read_tokens=read
        ),
        output_audio=of_output(output_audio_tokens=_PROBE),
        output_image=of_output(output_image_tokens=_PROBE),
        search=float((_dollars(price, web_searches=_PROBE) - call) / _PROBE),
    )


def _dollars(price: ModelPrice, **usage: int) -> Decimal:
    from genai_prices import Usage

    counts: dict[str, Any] = usage
    return Decimal(price.calc_price(Usage(**counts))["total_price"])


def _utc(moment: time) -> time:
    if moment.tzinfo is None:
        return moment
    return datetime.combine(date(1970, 1, 1), moment).astimezone(UTC).time()
