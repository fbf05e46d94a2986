"""What a stream says but for the places of tracebacks in it.

Of a tool whose result comes from a tape the body does not run, so the traceback of what it raised has not its
places; and places move as a program is worked on. What was raised is what is told.
"""

from __future__ import annotations

import re

_WORDS = b"Traceback (most"
_HEAD = re.compile(rb"^Traceback \(most recent call last\):\n", re.MULTILINE)
#: What all lines of places begin with: file and line, the line itself, marks below it.
_PLACE = b"  "


class Tracebacks:
    """Of one stream, piece by piece: a traceback may come in several."""

    __slots__ = ("_rest", "_within")

    def __init__(self) -> None:
        self._within = False
        self._rest = b""  # of a line in a traceback, whose end has not come

    def without_places(self, data: bytes) -> bytes:
        """The next piece, without the lines between a traceback's first and the exception."""
        kept = b""
        while data:
            if self._within:
                data = self._passed(self._rest + data)
            else:
                head = _HEAD.search(data) if _WORDS in data else None
                if head is None:
                    return kept + data if kept else data
                kept, data = kept + data[: head.end()], data[head.end() :]
                self._within = True
        return kept

    def _passed(self, data: bytes) -> bytes:
        """What comes behind the lines of places; nothing while more of those may come."""
        at = 0
        while at < len(data):
            end = data.find(b"\n", at) + 1
            if not data.startswith(_PLACE, at) and (end or data[at:] != _PLACE[:1]):
                self._within, self._rest = False, b""
                return data[at:]
            if not end:
                break
            at = end
        self._rest = data[at:]
        return b""
