"""Prices asked of a process that holds the list, so that the server need not: it is large, and slow to load.

The process ends when nobody has asked for a while, and comes back. What it said is kept here: of most models
the rates, which hold for good; of those whose price goes by the hour or by tiers, each answer.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import threading
import weakref
from typing import Any

import msgspec

from lctl.analysis.prices import Prices, Rates
from lctl.state.model import Tokens

_IDLE = 30.0  # seconds
_MOST = 20_000  # answers kept


class _Asked(msgspec.Struct, array_like=True):
    model: str
    provider: str | None
    url: str | None
    at: str
    tokens: Tokens


class _Said(msgspec.Struct, array_like=True):
    """`rates` where they hold at any time, for any number of tokens; else None."""

    cost: float | None
    rates: list[float] | None


class _NoPrices(Prices):
    """For an answer that is not the last: nobody is asked, and nothing has a price."""

    def cost(self, model: str | None, tokens: Tokens, **_: Any) -> float | None:
        return None

    def of_calls(self, model: str | None, tokens: Tokens, calls: int, **_: Any) -> float | None:
        return None

    def lasting(self, model: str | None, **_: Any) -> Rates | None:
        return None


NO_PRICES = _NoPrices()


class AskedPrices(Prices):
    """As `Prices`, of another process. Safe to use from several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[..., AskedPrices] | None = None
        self._idle: threading.Timer | None = None
        self._own: Prices | None = None  # where no process can be had
        self._rated: dict[tuple[str, str | None, str | None], Rates] = {}
        self._said: dict[_Key, float | None] = {}
        self._met: set[tuple[str, str | None, str | None]] = set()
        self.ready = False

    def start(self) -> None:
        """Have the list loaded before somebody asks."""
        one = Tokens(input=1)
        threading.Thread(target=self.cost, args=("gpt-4o", one), name="lctl-prices", daemon=True).start()

    def cost(
        self,
        model: str | None,
        tokens: Tokens,
        *,
        provider: str | None = None,
        at: str = "",
        url: str | None = None,
    ) -> float | None:
        if not model:
            return None
        rates = self._rated.get((model, provider, url))
        if rates is not None:
            return rates.cost(tokens)
        key = (model, provider, url, at[:16], tokens)
        if key in self._said:
            return self._said[key]
        said = self._ask(_Asked(model, provider, url, at, tokens))
        self.ready = True
        if said.rates is not None:
            self._rated[model, provider, url] = Rates.of(said.rates)
        if len(self._said) >= _MOST:
            self._said.clear()
        self._said[key] = said.cost
        return said.cost

    def lasting(
        self, model: str | None, *, provider: str | None = None, url: str | None = None
    ) -> Rates | None:
        if model and (model, provider, url) not in self._met:
            self.cost(model, Tokens(input=1), provider=provider, url=url)
            self._met.add((model, provider, url))
        return self._rated.get((model or "", provider, url))

    def _ask(self, asked: _Asked) -> _Said:
        with self._lock:
            for _ in range(2):  # one that has just ended is begun anew
                if self._own is not None:
                    break
                with contextlib.suppress(OSError, ValueError, msgspec.DecodeError):
                    return self._exchange(asked)
                self._stop(self._process)
            self._own = self._own or Prices()
            return _answer(self._own, asked)

    def _exchange(self, asked: _Asked) -> _Said:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "lctl.debugger.pricing"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            self._end = weakref.finalize(self, _ended, self._process)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(msgspec.json.encode(asked) + b"\n")
        process.stdin.flush()
        said = msgspec.json.decode(process.stdout.readline(), type=_Said)
        if self._idle is not None:
            self._idle.cancel()
        self._idle = threading.Timer(_IDLE, _idled, [weakref.ref(self), process])
        self._idle.daemon = True
        self._idle.start()
        return said

    def _stop(self, process: subprocess.Popen[bytes] | None) -> None:
        if process is not None and self._process is process and self._end is not None:
            self._process = None
            self._end()

    def idled(self, process: subprocess.Popen[bytes]) -> None:
        """Nobody has asked it for a while."""
        with self._lock:
            self._stop(process)


def _idled(prices: weakref.ref[AskedPrices], process: subprocess.Popen[bytes]) -> None:
    known = prices()
    if known is not None:
        known.idled(process)


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Its input ends, and with that the process."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    process.wait()


@functools.cache
def shared() -> AskedPrices:
    """Those of this process: the list is loaded once, however many ask."""
    return AskedPrices()


_Key = tuple[str, str | None, str | None, str, Tokens]


def _answer(prices: Prices, asked: _Asked) -> _Said:
    cost = prices.cost(asked.model, asked.tokens, provider=asked.provider, at=asked.at, url=asked.url)
    rates = prices.lasting(asked.model, provider=asked.provider, url=asked.url)
    return _Said(cost, None if rates is None else rates.plain())


def main() -> None:
    """The process: answers lines until there are no more."""
    if hasattr(os, "nice"):
        os.nice(5)  # the page comes first
    prices = Prices()
    answers: Any = sys.stdout.buffer
    for line in sys.stdin.buffer:
        answers.write(msgspec.json.encode(_answer(prices, msgspec.json.decode(line, type=_Asked))) + b"\n")
        answers.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main()
