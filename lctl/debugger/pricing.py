"""Prices asked of a process that holds the list, so that the server need not: it is large, and slow to load.

The process ends when nobody has asked for a while, and comes back. What it said of a model is kept here.
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

from lctl.analysis import keptprices
from lctl.analysis.pricebook import Book
from lctl.analysis.prices import Prices

_IDLE = 30.0  # seconds


class _Asked(msgspec.Struct, array_like=True):
    model: str
    provider: str | None
    url: str | None


class _Said(msgspec.Struct, array_like=True):
    book: Book | None


class _NoPrices(Prices):
    """For an answer that is not the last: nobody is asked, and nothing has a price."""

    def book(self, model: str | None, provider: str | None = None, url: str | None = None) -> Book | None:
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
        self.ready = False

    def start(self) -> None:
        """Have the list loaded before somebody asks."""
        threading.Thread(target=self.book, args=("gpt-4o",), name="lctl-prices", daemon=True).start()

    def find(self, model: str, provider: str | None, origin: str | None) -> Book | None:
        said = self._ask(_Asked(model, provider, origin))
        self.ready = True
        return said.book

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


def _answer(prices: Prices, asked: _Asked) -> _Said:
    return _Said(prices.book(asked.model, asked.provider, asked.url))


def main() -> None:
    """The process: answers lines until there are no more."""
    if hasattr(os, "nice"):
        os.nice(5)  # the page comes first
    keptprices.keep()
    prices = Prices()
    answers: Any = sys.stdout.buffer
    for line in sys.stdin.buffer:
        answers.write(msgspec.json.encode(_answer(prices, msgspec.json.decode(line, type=_Asked))) + b"\n")
        answers.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main()
