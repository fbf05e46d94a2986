"""Files that are held open, under numbers that are nobody else's."""

from __future__ import annotations

import os

BINARY = getattr(os, "O_BINARY", 0)
#: 0, 1 and 2 are the standard streams'.
_FIRST = 3


def open_apart(path: str, flags: int, mode: int = 0o644) -> int:
    """As `os.open`, but under no number of a standard stream.

    Where the program was started with one of those closed, its number is the next that is given out. What is
    written to it all the same (by C code, by a process that the program starts) would be in our file then.

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
    return fd
