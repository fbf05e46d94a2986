"""What tokens cost, from the price list that ships with genai-prices; nothing is fetched.

Cost is worked out when a log is read, at the prices of the moment an event was recorded, so a log
holds no price that could be wrong. A model the list does not know has no cost: None, never 0.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from lctl.state.model import Tokens

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider

#: One million tokens: unit prices are read off the list at this count to lose no digits.
_PROBE = 1_000_000
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)


class Rates:
    """US dollars per token of one model at one time."""

    __slots__ = ("cache_read", "cache_write", "call", "input", "output", "reasoning")

    def __init__(self, price: ModelPrice) -> None:
        self.call = _dollars(price)
        self.input = _per_token(price, self.call, input_tokens=_PROBE)
        self.cache_read = _per_token(price, self.call, input_tokens=_PROBE, cache_read_tokens=_PROBE)
        self.cache_write = _per_token(price, self.call, input_tokens=_PROBE, cache_write_tokens=_PROBE)
        self.output = _per_token(price, self.call, output_tokens=_PROBE)
        self.reasoning = _per_token(price, self.call, output_tokens=_PROBE, output_reasoning_tokens=_PROBE)

    @classmethod
    def of(cls, plain: list[float]) -> Rates:
        """What `plain` gave."""
        rates = cls.__new__(cls)
        for name, value in zip(sorted(cls.__slots__), plain, strict=True):
            setattr(rates, name, value)
        return rates

    def plain(self) -> list[float]:
        """Its numbers."""
        return [getattr(self, name) for name in sorted(self.__slots__)]

    def cost(self, tokens: Tokens) -> float:
        fresh = max(0, tokens.input - tokens.cache_read - tokens.cache_write)
        return (
            self.call
            + fresh * self.input
            + tokens.cache_read * self.cache_read
            + tokens.cache_write * self.cache_write
            + max(0, tokens.output - tokens.reasoning) * self.output
            + min(tokens.reasoning, tokens.output) * self.reasoning
        )


class Prices:
    """Looks prices up; keeps what it found. The list is loaded (0.2 s) at the first look."""

    def __init__(self) -> None:
        self._models: dict[tuple[str, str | None, str | None], tuple[Provider, ModelInfo] | None] = {}
        self._rates: dict[int, tuple[ModelPrice, Rates | None]] = {}
        self._exact: dict[tuple[int, Tokens], float | None] = {}

    def cost(
        self,
        model: str | None,
        tokens: Tokens,
        *,
        provider: str | None = None,
        at: str = "",
        url: str | None = None,
    ) -> float | None:
        """US dollars for these tokens; None when the model's price is not known.

        Args:
            model: as the provider answered it, else as it was asked for.
            provider: whose wire format it was; who is meant when `url` does not say it better
                (many servers speak OpenAI's format).
            at: timestamp of the call; prices change. Without one, the newest price of the list.
            url: where the request went.
        """
        price = self._price(model, provider, at, url)
        if price is None:
            return None
        known = self._rates.get(id(price))
        if known is None:
            # `price` is kept beside its rates: an id is only unique while its object lives
            known = self._rates[id(price)] = (price, None if _tiered(price) else _rates(price))
        if known[1] is not None:
            return known[1].cost(tokens)
        return self._tiered_cost(price, tokens)

    def of_calls(self, model: str | None, tokens: Tokens, calls: int, *, at: str = "") -> float | None:
        """US dollars of some calls that used these tokens together. Where long prompts are dearer, each call
        is taken to have used an even part."""
        if calls <= 1:
            return self.cost(model, tokens, at=at)
        rates = self.lasting(model)
        if rates is not None:
            return rates.cost(tokens) + (calls - 1) * rates.call
        each = Tokens(*(count // calls for count in msgspec.structs.astuple(tokens)))
        one = self.cost(model, each, at=at)
        return one if one is None or not each.total else one * tokens.total / each.total

    def lasting(
        self, model: str | None, *, provider: str | None = None, url: str | None = None
    ) -> Rates | None:
        """The rates of a model where they hold at any time and for any number of tokens."""
        price = self._price(model, provider, "", url)
        found = self._models.get((model or "", provider, _origin(url)))
        if price is None or found is None or isinstance(found[1].prices, list) or _tiered(price):
            return None
        return _rates(price)

    def cached_saving(
        self,
        model: str | None,
        tokens: int,
        *,
        provider: str | None = None,
        at: str = "",
        url: str | None = None,
    ) -> float | None:
        """US dollars less, had `tokens` of the input been read from the cache; None when unknown."""
        whole = self.cost(model, Tokens(input=tokens), provider=provider, at=at, url=url)
        cached = self.cost(model, Tokens(input=tokens, cache_read=tokens), provider=provider, at=at, url=url)
        return None if whole is None or cached is None else max(0.0, whole - cached)

    def _price(self, model: str | None, provider: str | None, at: str, url: str | None) -> ModelPrice | None:
        if not model:
            return None
        host = _origin(url)
        key = (model, provider, host)
        if key not in self._models:
            self._models[key] = _find(model, provider, host)
        found = self._models[key]
        if found is None:
            return None
        moment = _moment(at)
        try:
            return found[1].get_prices(moment)
        except (LookupError, ValueError, IndexError):
            return None

    def _tiered_cost(self, price: ModelPrice, tokens: Tokens) -> float | None:
        key = (id(price), tokens)
        if key not in self._exact:
            try:
                self._exact[key] = _dollars(
                    price,
                    input_tokens=max(tokens.input, tokens.cache_read + tokens.cache_write),
                    cache_read_tokens=tokens.cache_read,
                    cache_write_tokens=tokens.cache_write,
                    output_tokens=tokens.output,
                    output_reasoning_tokens=min(tokens.reasoning, tokens.output),
                )
            except (ValueError, LookupError):
                self._exact[key] = None
        return self._exact[key]


def _find(model: str, provider: str | None, origin: str | None) -> tuple[Provider, ModelInfo] | None:
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    tries: list[tuple[str | None, str | None]] = [(None, None)]
    if provider:
        tries.insert(0, (provider, None))
    if origin:
        tries.insert(0, (None, origin))
    for provider_id, api_url in tries:
        try:
            return snapshot.find_provider_model(model, None, provider_id, api_url)
        except (LookupError, ValueError):
            continue
    return None


def _origin(url: str | None) -> str | None:
    if not url:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.netloc else None


def _moment(at: str) -> datetime:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return _LATEST
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _tiered(price: ModelPrice) -> bool:
    from genai_prices.types import TieredPrices

    return any(isinstance(value, TieredPrices) for value in vars(price).values())


def _rates(price: ModelPrice) -> Rates | None:
    try:
        return Rates(price)
    except (ValueError, LookupError):
        return None


def _dollars(price: ModelPrice, **usage: int) -> float:
    from genai_prices import Usage

    counts: dict[str, Any] = usage
    return float(price.calc_price(Usage(**counts))["total_price"])


def _per_token(price: ModelPrice, call: float, **usage: int) -> float:
    return (_dollars(price, **usage) - call) / _PROBE
