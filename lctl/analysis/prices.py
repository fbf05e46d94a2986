"""What tokens cost, from the price list that ships with genai-prices; nothing is fetched.

Cost is worked out when a log is read, at the prices of the moment an event was recorded, so a log
holds no price that could be wrong. A model the list does not know has no cost: None, never 0.
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

from lctl.analysis import keptprices
from lctl.analysis.pricebook import Book, book_of
from lctl.state.model import Tokens

#: A model server of this machine has no price of its own, and another port each time.
_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
#: Whose models a name alone may mean: the list tells a provider by the names of its chat models, and OpenAI's
#: embeddings are not called so.
_WIRES = ("openai", "cohere", "aws")
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)


class Prices:
    """Looks prices up; keeps what it found. The list is loaded (0.4 s) at the first look, unless `keptprices`
    knows."""

    def __init__(self) -> None:
        self._books: dict[tuple[str, str | None, str | None], Book | None] = {}

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
        book = self.book(model, provider, url)
        if book is None:
            return None
        read = max(tokens.input, tokens.cache_read + tokens.cache_write)
        return book.rates(_moment(at), read).cost(tokens)

    def of_calls(
        self, model: str | None, tokens: Tokens, calls: int, *, at: str = "", read: int | None = None
    ) -> float | None:
        """US dollars of some calls that used these tokens together. Where long prompts are dearer, each call
        is taken to have read `read` tokens, or an even part."""
        book = self.book(model)
        if book is None:
            return None
        rates = book.rates(_moment(at), tokens.input // max(1, calls) if read is None else read)
        return rates.cost(tokens) + max(0, calls - 1) * rates.call

    def is_even(self, model: str | None, tokens: Tokens, calls: int, *, at: str = "") -> bool:
        """Whether `of_calls` is right however the calls shared the tokens: no prompt can have been so long
        that it was dearer."""
        book = self.book(model)
        longest = None if book is None else book.evenness(_moment(at))
        return calls <= 1 or longest is None or tokens.input <= longest

    def cached_saving(
        self,
        model: str | None,
        tokens: int,
        *,
        prompt: int | None = None,
        provider: str | None = None,
        at: str = "",
        url: str | None = None,
    ) -> float | None:
        """US dollars less, had `tokens` of the input been read from the cache; None when unknown.

        Args:
            prompt: tokens that the call read in all, if not these alone: long prompts may be dearer.
        """
        book = self.book(model, provider, url)
        if book is None:
            return None
        rates = book.rates(_moment(at), tokens if prompt is None else prompt)
        return max(0.0, tokens * (rates.input - rates.cache_read))

    def book(self, model: str | None, provider: str | None = None, url: str | None = None) -> Book | None:
        """All that is known of what it costs; None when its price is not known."""
        if not model:
            return None
        key = (model, provider, _origin(url))
        if key not in self._books:
            self._books[key] = self.find(*key)
        return self._books[key]

    def find(self, model: str, provider: str | None, origin: str | None) -> Book | None:
        """What the list says, or what it said before."""
        return keptprices.get((model, provider, origin), lambda: _find(model, provider, origin))


def _find(model: str, provider: str | None, origin: str | None) -> Book | None:
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    tries: list[tuple[str | None, str | None]] = [(None, None)]
    if provider:
        tries.insert(0, (provider, None))
    else:
        tries += [(one, None) for one in _WIRES]
    if origin:
        tries.insert(0, (None, origin))
    for provider_id, api_url in tries:
        try:
            return book_of(snapshot.find_provider_model(model, None, provider_id, api_url)[1])
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
    if not parts.netloc or parts.hostname in _HERE:
        return None
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _moment(at: str) -> datetime:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return _LATEST
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
