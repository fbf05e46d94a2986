"""The garbage collector, which runs in whatever thread comes by, at moments that no two runs have in common.

What it calls (`__del__`, `weakref.finalize`) it calls in no order of the program's: what such code reads is
not on the tape, what it starts takes no place of the program's, and in a rerun it waits for no turn and no
virtual time, as whoever it interrupts, one of our own threads, too, waits for its end. HTTP clients are
closed so, some by an event loop of their own.
"""

from __future__ import annotations

import gc
from _thread import get_ident
from typing import Any

#: Where it runs, while it does. It never runs in two threads at once.
thread: int | None = None

_watchers: set[Any] = set()


def watch(watcher: Any) -> None:
    """Keep `thread`, until each watcher has said `unwatch`. Idempotent."""
    _watchers.add(watcher)
    if _note not in gc.callbacks:
        gc.callbacks.append(_note)


def unwatch(watcher: Any) -> None:
    global thread
    _watchers.discard(watcher)
    if not _watchers and _note in gc.callbacks:
        gc.callbacks.remove(_note)
        thread = None


def runs_here() -> bool:
    """Whether it called what runs in this thread."""
    return thread is not None and thread == get_ident()


def _note(phase: str, _: Any) -> None:
    global thread
    thread = get_ident() if phase == "start" else None
