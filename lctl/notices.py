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
    stream, own = sys.stderr, sys.__stderr__
    if own is None or stream is not own or os.name == "nt":
        if stream is not None:
            stream.write(text)
        return
    # Past Python's own stream. A daemon thread that the end of the program meets in `write` keeps the lock of
    # it, of which the program dies; and what could not be written it keeps, tries again at exit, then ends
    # the program with 120.
    if not threading.current_thread().daemon:
        if "write" in vars(own):  # the program has put its own there
            own.write(text)
            return
        own.flush()
    os.write(own.fileno(), text.encode(own.encoding, "backslashreplace"))
