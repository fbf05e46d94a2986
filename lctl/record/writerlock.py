"""One writer per log: a lock on the log file itself, held by the kernel, gone with its process.

Who holds it is written beside the log (`.<name>.lock`: pid and since when), only so that the refusal
can name them; a file left there by a killed process locks nothing.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import orjson

from lctl.clock import system_clock
from lctl.errors import LogLocked
from lctl.interrupts import let_through

if sys.platform == "win32":
    import msvcrt

    #: Windows locks byte ranges, and against readers too: one far behind any log's end.
    _FAR = 1 << 62

    def _lock(fd: int) -> None:
        here = os.lseek(fd, 0, os.SEEK_CUR)
        os.lseek(fd, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(fd, here, os.SEEK_SET)
else:
    import fcntl

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def take(fd: int) -> bool:
    """Lock an open file until it is closed; False where another process has it."""
    try:
        _lock(fd)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        let_through(error)
        # a file system without locks
    return True


class WriterLock:
    """Held from construction until `release` or the end of the process."""

    def __init__(self, fd: int, path: str) -> None:
        """Lock the open file.

        Raises:
            LogLocked: another process (or session) is writing it.
        """
        folder, name = os.path.split(path)
        self._note = os.path.join(folder, f".{name}.lock")  # noqa: PTH118  (set-up without pathlib)
        self._pid = os.getpid()
        try:
            _lock(fd)
        except (BlockingIOError, PermissionError):
            raise LogLocked(f"{path}: {self._holder()}; give this session another path") from None
        except OSError:
            return  # a file system without locks: recording goes on unprotected
        self._write_note()

    def release(self) -> None:
        """Remove the note; the lock itself goes when the file is closed."""
        if os.getpid() != self._pid:
            return  # a forked child: the note is its parent's
        try:
            os.unlink(self._note)  # noqa: PTH108
        except OSError:
            pass

    def _write_note(self) -> None:
        note = orjson.dumps({"pid": self._pid, "since": system_clock.now()})
        try:
            fd = os.open(self._note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        except OSError:
            return
        try:
            os.write(fd, note)
        except OSError:
            pass
        finally:
            os.close(fd)

    def _holder(self) -> str:
        try:
            with open(self._note, "rb") as file:  # noqa: PTH123
                note: dict[str, Any] = orjson.loads(file.read())
            return f"process {note['pid']} has been writing it since {note['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process is writing it"
