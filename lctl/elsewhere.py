"""What opens logs that are in no file, and reads streams that were cut: it stands on floors above the one
that opens files.

This module imports nothing; `lctl/__init__` fills it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs 10 ms to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

#: How the address of a store begins (`lctl.stores.address`); a path like it is written `./file:...`.
_BEGINNINGS = ("file:", "memory:", "sqlite:", "postgresql:", "postgres:")

#: From a store's address to the log there.
opens: Callable[[str], Any] | None = None

#: From a file of open streams, the seq of the log's last event and what reads the log's lines from a seq on,
#: to the event lines that go on from it; with True the messages are ended. Nothing while the streams' program
#: runs.
revives: Callable[[str, int, Callable[[int], Iterator[bytes]], bool], list[bytes]] | None = None


def fill_streams(reader: Callable[[str, int, Callable[[int], Iterator[bytes]], bool], list[bytes]]) -> None:
    """Have `reader` read files of open streams."""
    global revives
    revives = reader


def fill(opener: Callable[[str], Any]) -> None:
    """Have `opener` open logs that are in no file."""
    global opens
    opens = opener


def is_elsewhere(source: object) -> bool:
    """Whether `source` is the address of a store."""
    return isinstance(source, str) and source[:12].lower().startswith(_BEGINNINGS)
