"""A stored chain as a log: events at any seq, fetched when asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from itertools import chain
from typing import Any

from lctl.codec.eventfile import event_of, events_of
from lctl.codec.log import Lines, Log, Problem
from lctl.events import VERSION, Event
from lctl.stores.contract import ChainStore, Entry

#: Up to so many events are few: then so many are fetched at once, and so many such windows kept.
_SMALL = 32
_WINDOW = 256
_KEPT = 8


class StoredEvents:
    """Where a stored chain's events come from, as it was when opened."""

    def __init__(self, store: ChainStore, entry: Entry) -> None:
        self.store = store
        self._entry = entry
        self._windows: OrderedDict[int, list[bytes]] = OrderedDict()
        self._lock = threading.Lock()
        self._tail: dict[str, Any] | None = None
        self._problems: list[Problem] | None = None

    @property
    def chain_id(self) -> str:
        return self._entry.id

    def __len__(self) -> int:
        return self._entry.events

    @property
    def first_seq(self) -> int:
        return self._entry.first_seq

    @property
    def last_seq(self) -> int:
        return self._entry.last_seq

    @property
    def problems(self) -> list[Problem]:
        """Lines that are no events. Stores take numbered lines only, so nothing else can be wrong."""
        if self._problems is None:
            self._problems = []
            for seq, line in enumerate(self.stored(), self.first_seq):
                if event_of(line) is None:
                    self._problems.append(Problem(seq, None, "not an event"))
        return self._problems

    @property
    def tail(self) -> dict[str, Any] | None:
        if self._tail is None and not self._entry.open:
            self._tail = self.store.tail(self._entry.id)
        return self._tail

    def line_of(self, seq: int, /) -> int | None:
        return None

    def events(self, start: int, stop: int | None) -> Iterator[Event]:
        first, end = self._bounds(start, stop)
        if end - first > _SMALL:
            return chain.from_iterable(map(events_of, self.store.joined(self._entry.id, first, end)))
        return (event for line in self._few(first, end) if (event := event_of(line)) is not None)

    def lines(self, start: int, stop: int | None) -> Iterator[bytes]:
        first, end = self._bounds(start, stop)
        if end - first > _SMALL:
            return self.store.read(self._entry.id, first, end)
        return iter(self._few(first, end))

    def _bounds(self, start: int, stop: int | None) -> tuple[int, int]:
        """What of a range there is; the same number twice for nothing."""
        first = max(start, self.first_seq)
        end = self.last_seq + 1 if stop is None else min(stop, self.last_seq + 1)
        return (first, end) if self.last_seq and first < end else (0, 0)

    def _few(self, first: int, end: int) -> list[bytes]:
        """From the windows around: who asks for one event asks for its neighbours next."""
        found: list[bytes] = []
        at = first
        while at < end:
            begin = at - (at - self.first_seq) % _WINDOW
            window = self._window(begin)
            found += window[at - begin : end - begin]
            at = begin + _WINDOW
        return found

    def _window(self, begin: int) -> list[bytes]:
        with self._lock:
            known = self._windows.get(begin)
            if known is not None:
                self._windows.move_to_end(begin)
                return known
        stop = min(begin + _WINDOW, self.last_seq + 1)
        window = list(self.store.read(self._entry.id, begin, stop))
        with self._lock:
            self._windows[begin] = window
            while len(self._windows) > _KEPT:
                self._windows.popitem(last=False)
        return window

    def stored(self) -> Iterator[bytes]:
        return self.lines(self.first_seq, None)

    def buffer(self) -> Lines | None:
        return None


def log_of(store: ChainStore, entry: Entry) -> Log:
    """The log of a stored chain. It has no path: its name is the store's and its own."""
    return Log(
        StoredEvents(store, entry),
        path=None,
        name=f"{store.address.shown}#{entry.id}",
        version=VERSION,
        chain=dict(entry.chain),
        extra={},
        form="journal",
        open=entry.open,
    )
