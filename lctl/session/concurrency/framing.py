"""Where one request ends that comes in pieces over HTTP/1, and the next one begins that was sent with it."""

from __future__ import annotations

import re
import sys
from typing import Any, NamedTuple

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[^\r]*chunked", re.IGNORECASE)
_WEBSOCKET = re.compile(rb"\r\nupgrade:[ \t]*websocket", re.IGNORECASE)
_SIZE = re.compile(rb"[ \t]*([0-9a-f]+)[^\n]*\n", re.IGNORECASE)
#: What may become a request's first line.
_BEGINNING = re.compile(rb"[A-Z]{1,10}(?: (?:[^\s]+(?: [HTP/1.0]{0,8}\r?)?)?)?\Z")
#: Longer targets than that are refused by servers.
LONGEST = 65_536


class Message(NamedTuple):
    """One request.

    Attributes:
        head: its lines, without the empty one.
        body: without what cuts it into chunks.
    """

    head: bytes
    body: bytes


class Coming:
    """What comes over one connection, until nothing of it waits for more.

    Attributes:
        data: all of it.
        found: the requests that are whole: more than one where a client did not wait for an answer.
        beyond: what came behind the last of them, where that opens a WebSocket; else None.
    """

    __slots__ = ("_at", "_body", "_chunk", "_end", "beyond", "data", "found")

    def __init__(self) -> None:
        self.data = bytearray()
        self.found: list[Message] = []
        self.beyond: bytes | None = None
        self._at = 0  # where the one begins that is not whole
        self._end = 0  # where its head ends, once that is known
        self._chunk = 0  # where its next chunk begins
        self._body = bytearray()  # of the chunks before that

    def feed(self, data: Any) -> bool:
        """Whether all that has come is whole."""
        self.data += data
        while self._at < len(self.data):
            if self._at and not may_begin(self.data[self._at : self._at + LONGEST]):
                return True  # no request: the server will refuse it
            if not self._cut():
                return False
        return True

    def rest(self) -> Message | None:
        """What has come of the one that is not whole, if its head is."""
        if self._at >= len(self.data) or not self._end:
            return None
        body = self._body if self._chunk else self.data[self._end + 4 :]
        return Message(bytes(self.data[self._at : self._end]), bytes(body))

    def _cut(self) -> bool:
        if not self._end:
            end = self.data.find(b"\r\n\r\n", self._at)
            if end < 0:
                return False
            self._end = end
            if _CHUNKED.search(self.data, self._at, end):
                self._chunk = end + 4
        if self._chunk:
            return self._cut_chunks()
        length = _LENGTH.search(self.data, self._at, self._end)
        end = self._end + 4 + (0 if length is None else int(length[1]))
        if len(self.data) < end:
            return False
        opens = opens_websocket(self.data, self._at, self._end)
        self._take(bytes(self.data[self._end + 4 : end]), end)
        if opens:
            self.beyond, self._at = bytes(self.data[end:]), len(self.data)
        return True

    def _cut_chunks(self) -> bool:
        while True:
            size = _SIZE.match(self.data, self._chunk)
            if size is None:
                return False
            begin, length = size.end(), int(size[1], 16)
            if length == 0:
                return self._end_chunks(begin)
            if len(self.data) < begin + length + 2:
                return False
            self._body += self.data[begin : begin + length]
            self._chunk = begin + length + 2

    def _end_chunks(self, at: int) -> bool:
        """Behind the last one there may be more headers."""
        while True:
            end = self.data.find(b"\r\n", at)
            if end < 0:
                return False
            if end == at:
                self._take(bytes(self._body), end + 2)
                return True
            at = end + 2

    def _take(self, body: bytes, end: int) -> None:
        self.found.append(Message(bytes(self.data[self._at : self._end]), body))
        self._at, self._end, self._chunk, self._body = end, 0, 0, bytearray()


def opens_websocket(data: Any, begin: int = 0, end: int = sys.maxsize) -> bool:
    """Whether the request whose head this is does."""
    return _WEBSOCKET.search(data, begin, end) is not None


def may_begin(data: Any) -> bool:
    """Whether these bytes are the first ones of a request, however few."""
    line, newline, _ = bytes(data[:LONGEST]).partition(b"\n")
    if newline:
        return line.endswith((b" HTTP/1.1\r", b" HTTP/1.0\r"))
    return _BEGINNING.match(line) is not None
