"""Events that were decoded when the log was opened: pretty JSON, YAML, upgraded logs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from lctl.codec.lines import encode
from lctl.codec.log import Lines, Problem
from lctl.events import Event


class EventList:
    """A list of events by ascending seq.

    Args:
        line_of: line of the file an event began at, by seq.
        written: events whose lines say what they themselves cannot hold, by seq.
    """

    def __init__(
        self,
        events: list[Event],
        problems: list[Problem],
        tail: dict[str, Any] | None = None,
        line_of: Callable[[int], int | None] = lambda seq: None,
        written: Mapping[int, dict[str, Any]] = MappingProxyType({}),
    ) -> None:
        self._events = events
        self._seqs = [event.seq for event in events]
        self.problems = problems
        self.tail = tail
        self.line_of = line_of
        self._written = {
            seq: encode(Event.from_dict({"type": "", **value, "seq": seq})) for seq, value in written.items()
        }

    def __len__(self) -> int:
        return len(self._events)

    @property
    def first_seq(self) -> int:
        return self._seqs[0] if self._seqs else 0

    @property
    def last_seq(self) -> int:
        return self._seqs[-1] if self._seqs else 0

    def events(self, start: int, stop: int | None) -> Iterator[Event]:
        end = None if stop is None else bisect_left(self._seqs, stop)
        return iter(self._events[bisect_left(self._seqs, start) : end])

    def lines(self, start: int, stop: int | None) -> Iterator[bytes]:
        return map(self._line, self.events(start, stop))

    def stored(self) -> Iterator[bytes]:
        return map(self._line, self._events)

    def buffer(self) -> Lines | None:
        return None

    def _line(self, event: Event) -> bytes:
        return self._written.get(event.seq) or encode(event)
