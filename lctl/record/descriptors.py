"""Files that are held open, under numbers that are nobody else's."""

from __future__ import annotations

import errno
import os

from lctl.interrupts import let_through

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

BINARY = getattr(os, "O_BINARY", 0)
#: 0, 1 and 2 are the standard streams'.
_FIRST = 3
#: From here on no program that opens few files at a time has a number; the second for who may open 256.
_FAR = (512, 128)


def open_apart(path: str, flags: int, mode: int = 0o644) -> int:
    """As `os.open`, but under a number that is neither a standard stream's nor soon another file's.

    Where the program was started with one of those closed, its number is the next that is given out. What is
    written to it all the same (by C code, by a process that the program starts) would be in our file then.
    And a program that becomes a daemon closes all numbers: what it opens next has the low ones, and what we
    write to ours would be in its file.

    Raises:
        OSError: the file cannot be opened.
    """
    low: list[int] = []
    try:
        while (fd := os.open(path, flags, mode)) < _FIRST:
            low.append(fd)
    finally:
        for number in low:
            os.close(number)
    return _far(fd)


def _far(fd: int) -> int:
    if fcntl is None:
        return fd
    for number in _FAR:
        try:
            far = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, number)
        except OSError as error:  # more than the program may open
            let_through(error)
            continue
        os.close(fd)
        return far
    return fd


def is_closed(error: BaseException) -> bool:
    """Whether a write failed because its file's number is no file's any more."""
    return isinstance(error, OSError) and error.errno == errno.EBADF
