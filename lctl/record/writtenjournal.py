"""Reading a log that is being written, by the program that writes it: lines, places, the hash so far."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lctl.codec.journal import JournalEnd, scan_end
from lctl.errors import LogNotFound
from lctl.record.descriptors import BINARY

if TYPE_CHECKING:
    from lctl.codec.hashing import RollingHash

_READ = 1 << 20
#: Events from the first beyond which the place of one is looked for, and not read up to.
_SOUGHT = 64


class WrittenJournal:
    """The reading side of a journal, whose attributes it has; `flush` is the writing side's."""

    path: Path
    lock: threading.RLock
    _place: str
    _fd: int | None
    _begin: int  # of the first event's line
    _glue: bytes  # goes in front of the next line
    _ending: JournalEnd | None = None  # as last seen, when the file had `_size`
    _size = 0
    _hash: RollingHash | None = None  # of the lines up to `_hashed`
    _hashed = 0

    if TYPE_CHECKING:  # the writing side has it

        def flush(self) -> None:
            """Write what is buffered."""

        def _length(self) -> int:
            """Of the file, opened again if the program had closed it."""
            ...

    @property
    def last_seq(self) -> int:
        """As the file has it, buffered events counted in."""
        with self.lock:
            self.flush()
            last = self.ending().last_seq
            self._glue = b",\n" if last else b"\n"
            return last

    def ending(self) -> JournalEnd:
        """Where the events end, as the file has it."""
        with self.lock:  # another thread may close the log
            if self._fd is None and self._ending is not None:
                return self._ending
            size = 0 if self._fd is None else self._length()
            fd = -1 if self._fd is None else self._fd
            if self._ending is None or size != self._size:  # we alone write it, and only at its end
                self._ending, self._size = scan_end(fd, self._place), size
            return self._ending

    def read(self, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        with self.lock:
            self.flush()
            ending = self.ending()
        begin, end, rest = self._begin, ending.events_end, b""
        if start - ending.first_seq > _SOUGHT:
            begin = self._place_of(start, ending)
        for block in self.blocks(begin, end):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                if start <= 1 and stop is None:
                    yield line[:-1]
                elif (seq := _seq(line)) >= start:
                    if stop is not None and seq >= stop:
                        return
                    yield line[:-1]
        if rest and start <= _seq(rest) and (stop is None or _seq(rest) < stop):
            yield rest

    def _place_of(self, seq: int, ending: JournalEnd) -> int:
        """Where the line of a seq begins, or that of the next one."""
        from lctl.codec.bytesource import FileBytes  # here: a session that only writes never needs it
        from lctl.codec.seeking import Disorder, find

        data = FileBytes(self._descriptor(), ending.events_end)
        try:
            return find(data, self._begin, ending.events_end, ending.first_seq, ending.last_seq, seq)
        except Disorder:
            return self._begin

    def since(self, position: int) -> tuple[list[bytes], int]:
        with self.lock:
            self.flush()
            end = self.ending().events_end
        found = b"".join(self.blocks(max(position, self._begin), end))
        return [line.rstrip(b",") for line in found.split(b"\n") if line not in (b"", b",")], end

    def count(self) -> int:
        """Number of events; differs from `last_seq` only in a log that does not begin at 1."""
        with self.lock:
            self.flush()
            ending = self.ending()
        return ending.last_seq - ending.first_seq + 1 if ending.last_seq else 0

    def blocks(self, start: int, end: int) -> Iterator[bytes]:
        """The file's bytes from `start` to `end`, a piece at a time; from any thread."""
        fd = self._descriptor()
        try:
            while start < end:
                block = os.pread(fd, min(_READ, end - start), start)
                if not block:
                    return
                start += len(block)
                yield block
        finally:
            os.close(fd)

    def _descriptor(self) -> int:
        """One of the reader's own: another thread may close the log meanwhile."""
        with self.lock:
            if self._fd is not None:
                return os.dup(self._fd)
        try:
            return os.open(self._place, os.O_RDONLY | BINARY)
        except OSError as error:
            raise LogNotFound(f"{self.path}: cannot be read ({error.strerror or error})") from error

    def events_hash(self) -> str:
        """SHA-256 over the event lines, each with a line feed; reads only what came since the last call."""
        with self.lock:
            return self._rolled().hexdigest()

    def _rolled(self) -> RollingHash:
        from lctl.codec.hashing import RollingHash  # here: hashlib is slow to load

        self.flush()
        if self._hash is None:
            self._hash, self._hashed = RollingHash(), self._begin
        end = self.ending().events_end
        if self._hashed < end:
            self._hash.update_pieces(self.blocks(self._hashed, end))
            self._hashed = end + len(b",\n")
        return self._hash


def _seq(line: bytes) -> int:
    return int(line[7:27].partition(b",")[0])
