"""Where a timeline gets its events: the part of a log it needs, and one in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from lctl.codec.log import Lines
from lctl.errors import UsageError
from lctl.events import Event


class EventSource(Protocol):
    """Events by ascending seq, each seq once. `lctl.codec.Log` is one.

    Ranges are start <= seq < stop; None is to the end.
    """

    @property
    def chain(self) -> Mapping[str, Any]: ...

    @property
    def first_seq(self) -> int:
        """0 when there are no events."""
        ...

    @property
    def last_seq(self) -> int:
        """0 when there are no events."""
        ...

    def __len__(self) -> int: ...

    def events(self, start: int = 1, stop: int | None = None) -> Iterator[Event]: ...

    def event(self, seq: int) -> Event: ...


@runtime_checkable
class LineSource(Protocol):
    """A source that may offer its lines. None: not in this form; use `events`."""

    def buffer(self) -> Lines | None: ...


class MemorySource:
    """Decoded events in memory. Out of order they are put in order; of equal seqs the first is kept."""

    def __init__(
        self, events: Iterable[Event | dict[str, Any]], chain: Mapping[str, Any] | None = None
    ) -> None:
        self.chain: Mapping[str, Any] = chain or {}
        by_seq: dict[int, Event] = {}
        for one in events:
            event = Event.from_dict(one) if isinstance(one, dict) else one
            by_seq.setdefault(event.seq, event)
        self._seqs = sorted(by_seq)
        self._events = [by_seq[seq] for seq in self._seqs]

    @property
    def first_seq(self) -> int:
        return self._seqs[0] if self._seqs else 0

    @property
    def last_seq(self) -> int:
        return self._seqs[-1] if self._seqs else 0

    def __len__(self) -> int:
        return len(self._seqs)

    def events(self, start: int = 1, stop: int | None = None) -> Iterator[Event]:
        end = len(self._seqs) if stop is None else bisect_left(self._seqs, stop)
        yield from self._events[bisect_left(self._seqs, start) : end]

    def event(self, seq: int) -> Event:
        for event in self.events(seq, seq + 1):
            return event
        raise UsageError(f"there is no event {seq}; this chain has {self.first_seq} to {self.last_seq}")
