"""A log whose events are held in memory: for who asks for each of them many times over, as an exported page
does. To find an event in a file costs a search in it."""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from lctl.codec import Log
from lctl.codec.log import Events, Lines, Problem
from lctl.events import Event

#: Events, and bytes of their lines, up to which they are held.
_EVENTS, _BYTES = 200_000, 256 << 20


def held(log: Log) -> Log:
    """The same log, held if it is not too large."""
    if len(log) > _EVENTS:
        return log
    source = Held.of(log.source)
    if source is None:
        return log
    found = copy.copy(log)
    found.source = source
    return found


class Held:
    """Events in order, each with its line. A source of a `Log`."""

    def __init__(self, source: Events, events: list[Event], lines: list[bytes]) -> None:
        self._source = source
        self._events = events
        self._lines = lines
        self._seqs = [event.seq for event in events]

    @classmethod
    def of(cls, source: Events) -> Held | None:
        """None where the lines are too large, or are not those of the events."""
        _ = source.problems  # what is damaged is among the lines until then
        lines, left = [], _BYTES
        for line in source.lines(0, None):
            left -= len(line)
            if left < 0:
                return None
            lines.append(line)
        events = list(source.events(0, None))
        return cls(source, events, lines) if len(events) == len(lines) else None

    def __len__(self) -> int:
        return len(self._source)

    @property
    def first_seq(self) -> int:
        return self._source.first_seq

    @property
    def last_seq(self) -> int:
        return self._source.last_seq

    @property
    def problems(self) -> list[Problem]:
        return self._source.problems

    @property
    def tail(self) -> dict[str, Any] | None:
        return self._source.tail

    def line_of(self, seq: int, /) -> int | None:
        return self._source.line_of(seq)

    def events(self, start: int, stop: int | None) -> Iterator[Event]:
        return iter(self._events[self._range(start, stop)])

    def lines(self, start: int, stop: int | None) -> Iterator[bytes]:
        return iter(self._lines[self._range(start, stop)])

    def stored(self) -> Iterator[bytes]:
        return self._source.stored()

    def buffer(self) -> Lines | None:
        return self._source.buffer()

    def _range(self, start: int, stop: int | None) -> slice:
        seqs = self._seqs
        return slice(bisect_left(seqs, start), None if stop is None else bisect_left(seqs, stop))
