"""What a tree reads its texts from, and what it gives its new events to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class Kept:
    """The data of events that are read again, in memory.

    Attributes:
        elsewhere: gives the data of other events (large content, exchanges); None: those are kept, too.
    """

    __slots__ = ("elsewhere", "events")

    def __init__(self, elsewhere: Callable[[int], Mapping[str, Any]] | None = None) -> None:
        self.events: dict[int, Mapping[str, Any]] = {}
        self.elsewhere = elsewhere

    def __call__(self, seq: int) -> Mapping[str, Any]:
        found = self.events.get(seq)
        if found is None and self.elsewhere is not None:
            return self.elsewhere(seq)
        return self.events[seq]


class Writer(Protocol):
    """What a tree that is being written gives its new events to: a session."""

    def emit(self, type: str, data: dict[str, Any], *, agent: str | None = None) -> int:
        """Record the event and fold it into the tree; its seq, 0 when it could not be recorded."""
        ...
