"""What a tree reads its texts from, and what it gives its new events to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Kept:
    """The data of events that are read again, in memory."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events: dict[int, Mapping[str, Any]] = {}

    def __call__(self, seq: int) -> Mapping[str, Any]:
        return self.events[seq]


class Writer(Protocol):
    """What a tree that is being written gives its new events to: a session."""

    def emit(self, type: str, data: dict[str, Any], *, agent: str | None = None) -> int:
        """Record the event and fold it into the tree; its seq, 0 when it could not be recorded."""
        ...
