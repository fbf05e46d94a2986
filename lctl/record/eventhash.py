"""The hash of a growing log's events, computed when somebody asks, from where it was left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256


class EventHash:
    """SHA-256 over every event line, each followed by one line feed; commas do not count."""

    def __init__(self, begin: int) -> None:
        self._sha = sha256()
        self._done = begin
        self._begin = begin

    def hexdigest(self, blocks: Callable[[int, int], Iterator[bytes]], end: int) -> str:
        """The hash of the lines up to offset `end`, which is the end of a line; `blocks` reads the file."""
        rest = b""
        if self._done < end:
            # The separator before these lines: the line feed after the header, or `,\n`, whose line
            # feed was hashed with the line before it.
            start = self._done + (1 if self._done == self._begin else 2)
            for block in blocks(start, end):
                block = rest + block
                rest = b""
                if block.endswith(b","):  # may be half of a separator
                    block, rest = block[:-1], b","
                self._sha.update(block.replace(b",\n", b"\n"))
            self._sha.update(b"\n")
            self._done = end
        return self._sha.hexdigest()
