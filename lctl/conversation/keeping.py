"""What a tree reads its texts from, and what it gives its new events to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol


class Kept:
    """The data of events that are read again, in memory.

    Args:
        read: gives that of an event which is not kept: large content, from where the events are stored.
    """

    __slots__ = ("_read", "events")

    def __init__(self, read: Callable[[int], Mapping[str, Any]] | None = None) -> None:
        self._read = read
        self.events: dict[int, Mapping[str, Any]] = {}

    def __call__(self, seq: int) -> Mapping[str, Any]:
        """Raises KeyError where it is not to be had."""
        found = self.events.get(seq)
        if found is None:
            if self._read is None:
                raise KeyError(seq)
            found = self._read(seq)
        return found


class Writer(Protocol):
    """What a tree that is being written gives its new events to: a session."""

    def emit(self, type: str, data: dict[str, Any], *, agent: str | None = None) -> int:
        """Record the event and fold it into the tree; its seq, 0 when it could not be recorded."""
        ...
