"""Whether the running code was called by the garbage collector, while streams are open.

When that comes is chance. What a program drops is ended by it (a generator closes the response it reads),
at another moment in each run, and a recording that says so then could never be told again.
"""

from __future__ import annotations

import gc
from threading import RLock, get_ident

_lock = RLock()  # the collector may run while it is held
_open = 0
_collecting: int | None = None  # the thread that collects


def watch() -> None:
    """A stream is open; `unwatch` when it is not."""
    global _open
    with _lock:
        _open += 1
        if _open == 1:
            gc.callbacks.append(_told)


def unwatch() -> None:
    global _collecting, _open
    with _lock:
        _open -= 1
        if _open == 0:
            gc.callbacks.remove(_told)
            _collecting = None


def is_collecting() -> bool:
    """Whether this thread collects garbage."""
    return _collecting == get_ident()


def _told(phase: str, info: dict[str, int]) -> None:
    global _collecting
    _collecting = get_ident() if phase == "start" else None


__all__ = ["is_collecting", "unwatch", "watch"]
