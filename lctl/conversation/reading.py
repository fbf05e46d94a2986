"""Texts of messages read from a log, in stretches where they are asked for one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from lctl.events import Event

_STRETCH = 64  # reading that many events costs about as much as finding one
_NEAR = 256
_MOST = 1024


class Events(Protocol):
    """What a tree is read from: an opened log, or anything that gives its events in order."""

    def events(self, start: int = ..., stop: int | None = ...) -> Iterator[Event]: ...

    def event(self, seq: int) -> Event: ...


class Reader:
    """The `data` of a log's events by seq. An event near the one asked for before is read with its
    neighbours, which will be asked for next; but for large content, which is read alone and not held."""

    def __init__(self, log: Events) -> None:
        self._log = log
        self._last = -_NEAR
        self._held: dict[int, Mapping[str, Any]] = {}
        self._read: set[int] = set()  # first seqs of the stretches that are held

    def __call__(self, seq: int) -> Mapping[str, Any]:
        data = self._held.get(seq)
        if data is not None:
            self._last = seq
            return data
        near = abs(seq - self._last) < _NEAR
        self._last = seq
        first = seq - seq % _STRETCH
        if not near or first in self._read:
            return self._log.event(seq).data
        stretch = self._log.events(first, first + _STRETCH)
        read = {event.seq: event.data for event in stretch if event.type != "blob"}
        if len(self._held) > _MOST:
            self._held, self._read = {}, set()
        self._held.update(read)
        self._read.add(first)
        data = read.get(seq)
        return self._log.event(seq).data if data is None else data
