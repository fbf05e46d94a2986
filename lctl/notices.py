"""What lctl says to the user of a program, on the program's standard error."""

from __future__ import annotations

import os
import sys
import threading


def tell(text: str) -> None:
    """Write it there if that can be done; where not (no stream, a full disk, a reader that is gone), the
    program does not feel it."""
    try:
        _tell(text)
    except Exception:
        pass


def _tell(text: str) -> None:
    stream = sys.stderr
    if stream is None:
        return
    if stream is not sys.__stderr__ or os.name == "nt":
        stream.write(text)
        return
    # Past Python's own stream. A daemon thread that the end of the program meets in `write` keeps the lock of
    # it, of which the program dies; and what could not be written it keeps, tries again at exit, then ends
    # the program with 120.
    if not threading.current_thread().daemon:
        if "write" in vars(stream):  # the program's own
            stream.write(text)
            return
        stream.flush()
    os.write(stream.fileno(), text.encode(stream.encoding, "backslashreplace"))
