"""The contract of every place that keeps events, and the one in memory.

One contract test suite (`tests/unit/record/test_store_contract.py`) runs on all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol


class Lines(Protocol):
    """Lines of one chain, to be read."""

    def read(self, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        """Lines with start <= seq < stop (None: to the end), in order. From any thread."""
        ...

    def since(self, position: int) -> tuple[list[bytes], int]:
        """Lines stored after a position, and the position after them. 0 is before the first; other
        positions are those given here. From any thread."""
        ...


class EventStore(Lines, Protocol):
    """Append-only lines of one chain. A line is one event's JSON, without a line end.

    Attributes:
        lock: held by the recorder while it numbers and appends; a store that writes from a thread of
            its own takes it too. Re-entrant.
    """

    lock: threading.RLock

    @property
    def last_seq(self) -> int:
        """Highest seq stored, 0 when empty. A reopened store continues after it."""
        ...

    def append(self, block: bytes, count: int = 1) -> None:
        """Store `count` lines, joined by `,\\n`, as safely as the store's durability says, before returning.

        Raises:
            RecordingError: nothing of `block` is stored (disk full, closed).
        """
        ...

    def flush(self) -> None:
        """Make everything appended as durable as this store ever makes it."""
        ...

    def close(self, tail: dict[str, Any] | None = None) -> None:
        """Finish the log, with `tail` (state, summary, ...) where the store has a place for it."""
        ...


class RecordingStore(EventStore, Protocol):
    """What a session records into: one chain, and what is known of it.

    Attributes:
        chain: the header's chain.
        path: the log's file; of a store without one, a name for messages.
    """

    chain: dict[str, Any]
    path: Path

    @property
    def where(self) -> str:
        """Where the recording is to be found: a path, or a store's address."""
        ...

    def count(self) -> int:
        """Number of events."""
        ...

    def events_hash(self) -> str:
        """SHA-256 over the event lines, each with a line feed."""
        ...

    def forget(self) -> None:
        """Let go of it as it stands."""
        ...


class MemoryStore:
    """Keeps the lines in a list: for tests, and for sessions that must leave no file."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.lines: list[bytes] = []
        self.tail: dict[str, Any] | None = None

    @property
    def last_seq(self) -> int:
        return len(self.lines)

    def append(self, block: bytes, count: int = 1) -> None:
        if count == 1:
            self.lines.append(block)
        else:
            self.lines.extend(block.split(b",\n"))

    def read(self, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        yield from self.lines[max(start, 1) - 1 : None if stop is None else stop - 1]

    def since(self, position: int) -> tuple[list[bytes], int]:
        lines = self.lines[position:]
        return lines, position + len(lines)

    def flush(self) -> None:
        return None

    def close(self, tail: dict[str, Any] | None = None) -> None:
        self.tail = tail
