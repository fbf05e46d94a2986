"""The file of a log that is written: made or gone on with, and opened again if the program closed it."""

from __future__ import annotations

import os
from typing import Any, Literal

import orjson

from lctl.codec.journal import scan_end
from lctl.errors import RecordingError, UsageError
from lctl.interrupts import let_through
from lctl.record.descriptors import BINARY, is_closed, open_apart
from lctl.record.writerlock import WriterLock
from lctl.record.writtenjournal import WrittenJournal

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY

_write = os.write


class OpenJournal(WrittenJournal):
    """The descriptor of a journal and the lock on it."""

    chain: dict[str, Any]
    _adopts: bool  # an existing log of another chain is gone on with
    _writer: WriterLock

    def _open(self) -> int:
        try:
            os.makedirs(os.path.dirname(self._place), exist_ok=True)  # noqa: PTH103, PTH120
            fd = open_apart(self._place, _FLAGS)
        except OSError as error:
            raise self._refused(error) from error
        writer: WriterLock | None = None
        try:
            self._writer = writer = WriterLock(fd, self._place)
            self._resume(fd)
        except BaseException:
            if writer is not None:
                writer.release()
            os.close(fd)
            raise
        return fd

    def _resume(self, fd: int) -> None:
        """Write the header of a new log, or cut an existing one after its last event."""
        if os.fstat(fd).st_size:
            found = scan_end(fd, self._place)
            if found.events_end:
                asked = self.chain.get("id")
                if asked is not None and not self._adopts and found.chain.get("id") != asked:
                    raise UsageError(
                        f"{self.path}: holds chain {found.chain.get('id')!r}, not {asked!r}; "
                        "give another path, or no chain id to go on with it"
                    )
                os.ftruncate(fd, found.events_end)
                self.chain = found.chain
                self._begin = found.begin if found.last_seq else found.events_end + 1
                self._glue = b",\n" if found.last_seq else b"\n"
                return
            os.ftruncate(fd, 0)  # killed while writing the header: there was no event yet
        head = orjson.dumps({"lctl": "4.0", "chain": self.chain})[:-1] + b',"events":['
        self._begin = len(head) + 1
        try:
            self._write_whole(fd, head)
        except OSError as error:
            os.ftruncate(fd, 0)
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> RecordingError:
        """
        Raises:
            OSError: it is none of the disk's; a signal handler of the program raised it here.
        """
        let_through(error)
        said = error.strerror or str(error)
        if isinstance(error, FileExistsError | NotADirectoryError):
            file = next((place for place in self.path.parents if os.path.isfile(place)), None)  # noqa: PTH113
            said = said if file is None else f"{file} is a file, not a folder"
        return RecordingError(f"{self.path}: cannot be written ({said})")

    def _write_whole(self, fd: int, block: bytes | bytearray, done: int = 0) -> None:
        """Write what follows the first `done` bytes; the kernel may take less than it is given."""
        while done < len(block):
            done += _write(fd, block[done:] if done else block)

    def _is_open_again(self, error: BaseException) -> bool:
        """Whether the program had closed the file, with all that it did not know (as daemons do)."""
        if self._fd is None or not is_closed(error) or not os.path.exists(self._place):  # noqa: PTH110
            return False
        self._fd = self._open()
        return True

    def _length(self) -> int:
        """Of the file, which is open behind this if it can be.

        Raises:
            RecordingError: the program had closed it, and it is there no more.
        """
        try:
            return os.fstat(self._fd).st_size  # type: ignore[arg-type]  # not None where this is asked
        except OSError as error:
            if not self._is_open_again(error):
                raise self._refused(error) from error
            return self._length()

    def _strayed(self, fd: int) -> Literal["", "removed", "moved"]:
        """What became of the file that is open."""
        found = os.fstat(fd)
        try:
            if os.path.samestat(found, os.stat(self._place)):  # noqa: PTH116
                return ""
        except OSError:
            pass
        return "moved" if found.st_nlink else "removed"
