"""Bytes that can be read at any offset: a file on disk, or memory.

Files are read with `pread`: the tail of a log goes when its writer reopens it, and touching a mapped
page past the end of a file kills the process. Only the part a writer never takes away, the events, may
be mapped (`view`).
"""

from __future__ import annotations

import os
import threading
from mmap import ACCESS_READ, mmap
from typing import Protocol

_HAS_PREAD = hasattr(os, "pread")


class Bytes(Protocol):
    """Random access. `read` past the end gives what there is."""

    size: int

    def read(self, offset: int, size: int) -> bytes: ...

    def view(self, end: int) -> bytes | mmap:
        """The first `end` bytes, to be sliced without a call into the system for each slice."""
        ...


class MemoryBytes:
    """Bytes already in memory."""

    __slots__ = ("_data", "size")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read(self, offset: int, size: int) -> bytes:
        return self._data[offset : offset + size]

    def view(self, end: int) -> bytes | mmap:
        return self._data


class FileBytes:
    """An open regular file; `size` is what it was when opened. Closed when the last reference goes."""

    __slots__ = ("_fd", "_lock", "size")

    def __init__(self, fd: int, size: int) -> None:
        self._fd = fd
        self.size = size
        self._lock = threading.Lock()

    def read(self, offset: int, size: int) -> bytes:
        size = min(size, self.size - offset)
        if size <= 0:
            return b""
        if _HAS_PREAD:
            return os.pread(self._fd, size, offset)
        with self._lock:  # Windows has no pread: seek and read must not be torn apart by another thread
            os.lseek(self._fd, offset, os.SEEK_SET)
            return os.read(self._fd, size)

    def view(self, end: int) -> bytes | mmap:
        return mmap(self._fd, end, access=ACCESS_READ) if end else b""

    def __del__(self) -> None:
        try:
            os.close(self._fd)
        except AttributeError:  # an interrupt came before it had one
            pass


def read_all(data: Bytes) -> bytes:
    """The whole of it. `pread` may give less than asked (2 GB at most a call on Linux)."""
    parts: list[bytes] = []
    offset = 0
    while offset < data.size and (part := data.read(offset, data.size - offset)):
        parts.append(part)
        offset += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
