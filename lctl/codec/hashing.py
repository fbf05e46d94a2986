"""The rolling hash of a log: SHA-256 over every event line, each followed by one line feed.

Commas, the header and the tail are left out, so the hash is the same whether the log is open or
closed, a journal or JSON Lines. It is written into the tail and, as `events_hash`, into checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

ALGORITHM = "sha256"


class RollingHash:
    """The hash so far; `count` is the number of lines in it."""

    __slots__ = ("_sha", "count")

    def __init__(self) -> None:
        self._sha = sha256()
        self.count = 0

    def update(self, line: bytes) -> None:
        """Take in one event line (without comma and line end)."""
        self._sha.update(line)
        self._sha.update(b"\n")
        self.count += 1

    def update_block(self, block: bytes) -> None:
        """Take in whole lines as they stand in a journal: `{..},\\n{..},\\n`, the last comma optional.

        About four times faster than line by line. A line feed never occurs inside an event's line.
        """
        if not block:
            return
        if not block.endswith(b"\n"):
            block += b"\n"
        self._sha.update(block.replace(b",\n", b"\n"))
        self.count += block.count(b"\n")

    def update_pieces(self, pieces: Iterable[bytes]) -> None:
        """Take in a journal's lines from pieces cut anywhere; the last one ends with a whole line."""
        rest = b""
        for piece in pieces:
            cut = piece.rfind(b"\n") + 1
            if cut:
                self.update_block(rest + piece[:cut])
                rest = piece[cut:]
            else:
                rest += piece
        self.update_block(rest)

    def hexdigest(self) -> str:
        return self._sha.hexdigest()

    def copy(self) -> RollingHash:
        """An independent hash that goes on from here."""
        twin = RollingHash()
        twin._sha = self._sha.copy()
        twin.count = self.count
        return twin
