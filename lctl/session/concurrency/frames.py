"""What a client says over a WebSocket: its messages, of the frames in which they come (RFC 6455).

Compressed ones (permessage-deflate) are inflated: whatever was agreed on, a window of the largest size reads
them all.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
_KNOWN = frozenset((CONTINUED, TEXT, BINARY, CLOSE, PING, PONG))
_END = b"\x00\x00\xff\xff"  # of each compressed message, which leaves it out


class Unreadable(Exception):
    """These are no frames of a client, or more of them than are kept; it says so."""


class Said(NamedTuple):
    """One message: `kind` is its opcode."""

    kind: int
    data: bytes


class Frames:
    """Of one connection.

    Args:
        largest: bytes of one message that are kept.
    """

    __slots__ = ("_data", "_inflater", "_kind", "_largest", "_parts", "_size", "_squeezed")

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._data = bytearray()
        self._kind = 0  # of the message that has begun
        self._parts: list[bytes] = []
        self._size = 0
        self._squeezed = False
        self._inflater: Any = None

    def feed(self, data: Any) -> Iterator[Said]:
        """The messages that are whole with it. All are to be taken.

        Raises:
            Unreadable: nothing more will be read.
        """
        self._data += data
        while (frame := self._frame()) is not None:
            first, payload = frame
            kind = first & 15
            if kind >= CLOSE:
                yield Said(kind, payload)
                continue
            if kind != CONTINUED:
                self._kind, self._squeezed = kind, bool(first & 0x40)
                self._parts, self._size = [], 0
            self._parts.append(payload)
            self._size += len(payload)
            if self._size > self._largest:
                raise Unreadable(self._too_large())
            if first & 0x80:
                whole, self._parts = b"".join(self._parts), []
                yield Said(self._kind, self._inflated(whole) if self._squeezed else whole)

    def _frame(self) -> tuple[int, bytes] | None:
        """The first byte of the next one and what it holds, if it is whole."""
        data = self._data
        if len(data) < 2:
            return None
        first, size = data[0], data[1] & 0x7F
        if not data[1] & 0x80 or first & 15 not in _KNOWN:
            raise Unreadable("what came are no frames of a client")
        at = 2
        if size >= 126:
            at = 4 if size == 126 else 10
            if len(data) < at:
                return None
            size = int.from_bytes(data[2:at])
        if size > self._largest:
            raise Unreadable(self._too_large())
        begin, end = at + 4, at + 4 + size
        if len(data) < end:
            return None
        payload = _unmasked(data[begin:end], data[at:begin])
        del data[:end]
        return first, payload

    def _inflated(self, data: bytes) -> bytes:
        if self._inflater is None or self._inflater.eof:
            self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            made: bytes = self._inflater.decompress(data + _END, self._largest + 1)
        except zlib.error as error:
            raise Unreadable(f"what came cannot be decompressed ({error})") from None
        if len(made) > self._largest:
            raise Unreadable(self._too_large())
        return made

    def _too_large(self) -> str:
        return f"a message of more than {self._largest >> 20} MiB came, and none is kept from there on"


def _unmasked(data: bytearray, mask: bytearray) -> bytes:
    size = len(data)
    key = bytes(mask) * (size // 4) + bytes(mask[: size % 4])
    return (int.from_bytes(data) ^ int.from_bytes(key)).to_bytes(size)


def framed(kind: int, data: bytes) -> bytes:
    """One message of a client, in one frame, masked by nothing."""
    size = len(data)
    if size < 126:
        length = bytes((0x80 | size,))
    elif size < 1 << 16:
        length = b"\xfe" + size.to_bytes(2)
    else:
        length = b"\xff" + size.to_bytes(8)
    return bytes((0x80 | kind,)) + length + b"\0\0\0\0" + data


class Heard:
    """What a server sends over one, of which only the kinds matter, and what its pings hold."""

    __slots__ = ("_data", "_skip")

    def __init__(self) -> None:
        self._data = bytearray()
        self._skip = 0

    def feed(self, data: bytes) -> Iterator[Said]:
        """The frames that are whole with it; of messages that are not of control, without what they hold."""
        if self._skip:
            passed = min(self._skip, len(data))
            self._skip -= passed
            data = data[passed:]
        self._data += data
        while len(self._data) >= 2:
            kind, size, at = self._data[0] & 15, self._data[1] & 0x7F, 2
            if size >= 126:
                at = 4 if size == 126 else 10
                if len(self._data) < at:
                    return
                size = int.from_bytes(self._data[2:at])
            if kind < CLOSE:
                self._skip = max(0, at + size - len(self._data))
                del self._data[: at + size]
                yield Said(kind, b"")
                continue
            if len(self._data) < at + size:
                return
            payload = bytes(self._data[at : at + size])
            del self._data[: at + size]
            yield Said(kind, payload)
