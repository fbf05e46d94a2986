"""Answers while they are streamed, in a file beside the log: who is killed loses nothing that had come.

A message is one event, written when it is whole. Until then the pieces are appended here, each before
the program gets it. The file holds frames, `<kind> <stream> <size>\\n<bytes>\\n`:

    B  a stream begins: JSON, what its message needs (agent, step, parent, url, headers)
    C  the next bytes of its body, content-encoding undone
    T  of a WebSocket: microseconds from its beginning to the next line
    R  all its bytes so far, in place of those before
    E  its message is in the log

It is emptied whenever no stream is open. No secret comes into it (see `keptpieces`).
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from lctl.codec.journal import beside
from lctl.instrument.keptpieces import Pieces
from lctl.interrupts import let_through
from lctl.record.descriptors import BINARY, open_apart
from lctl.record.writerlock import take

if TYPE_CHECKING:
    from lctl.instrument.attempts import Attempt
    from lctl.session.redaction.redact import Redactor

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY | getattr(os, "O_CLOEXEC", 0)
#: Bytes of the file beyond which no further stream is kept.
_FULL = 64 << 20
_FRAME = re.compile(rb"([A-Z]) (\d+) (\d+)\n")


class OpenStreams:
    """The streams of one log that have not ended."""

    _fd: int | None = None  # here: an interrupt may come as it is made

    def __init__(self, path: str, redactor: Redactor | None) -> None:
        """
        Args:
            path: of the log, absolute.
        """
        self._path = beside(path)
        self.redactor = redactor
        self._count = 0
        self._open: set[int] = set()
        self._size = 0
        self._pid = os.getpid()
        self._lock = threading.RLock()  # a finaliser may end a stream in the middle of a write

    def begin(self, attempt: Attempt, head: dict[str, Any], kind: type[Pieces] = Pieces) -> Pieces | None:
        """Keep what comes of this answer from now on, in a list of that kind; None where it cannot be."""
        with self._lock:
            if self._fd is None and not self._make():
                return None
            if self._size > _FULL:
                return None
            self._count += 1
            self._open.add(self._count)
            self._write(b"B", self._count, orjson.dumps(head))
            return kind(self, self._count, attempt)

    def _make(self) -> bool:
        try:
            fd = open_apart(self._path, _FLAGS, 0o600)
        except OSError as error:
            let_through(error)
            return False
        if not take(fd):
            os.close(fd)
            return False
        os.ftruncate(fd, 0)
        self._fd = fd
        return True

    def add(self, stream: int, data: bytes) -> None:
        """The next bytes of a stream."""
        frame = b"C %d %d\n%b\n" % (stream, len(data), data)
        with self._lock:
            if self._fd is not None:
                self._size += os.write(self._fd, frame)

    def note(self, stream: int, time: bytes) -> None:
        """When its next line came."""
        with self._lock:
            self._write(b"T", stream, time)

    def replace(self, stream: int, data: bytes) -> None:
        """All bytes of a stream so far, in place of those that are there."""
        with self._lock:
            fd = self._fd
            if fd is None:
                return
            held = os.pread(fd, os.fstat(fd).st_size, 0)
            kept = [
                _frame(kind, number, inside)
                for kind, number, inside in frames(held)
                if number != stream or kind in b"BT"
            ]
            os.ftruncate(fd, 0)
            self._size = os.write(fd, b"".join([*kept, _frame(b"R", stream, data)]))

    def _write(self, kind: bytes, stream: int, data: bytes) -> None:
        if self._fd is not None:
            self._size += os.write(self._fd, _frame(kind, stream, data))

    def end(self, stream: int) -> None:
        """Its message is in the log."""
        with self._lock:
            if stream not in self._open or self._fd is None:
                return
            self._open.discard(stream)
            if self._open:
                self._write(b"E", stream, b"")
            else:
                os.ftruncate(self._fd, 0)
                self._size = 0

    def close(self) -> None:
        """The log is closed: nothing is left of them."""
        with self._lock:
            fd, self._fd = self._fd, None
            if fd is None or self._pid != os.getpid():  # in a forked child: the file is its parent's
                return
            try:
                os.unlink(self._path)  # noqa: PTH108
            except OSError:
                pass
            os.close(fd)

    def __del__(self) -> None:
        if self._fd is not None:
            os.close(self._fd)


def _frame(kind: bytes, stream: int, data: bytes) -> bytes:
    return b"%b %d %d\n%b\n" % (kind, stream, len(data), data)


def frames(held: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """(kind, stream, bytes) of each whole frame."""
    at = 0
    while (found := _FRAME.match(held, at)) is not None:
        start, size = found.end(), int(found[3])
        at = start + size + 1
        if at > len(held):
            return
        yield found[1], int(found[2]), held[start : start + size]
