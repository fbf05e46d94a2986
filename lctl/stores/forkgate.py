"""Keeps a fork out of the middle of a library that does not survive it.

SQLite has locks of its own for the whole process. A child that is forked while another thread holds one
waits for it for ever, at the first database it opens.
"""

from __future__ import annotations

import os
import threading

#: Seconds a fork waits for threads that are inside.
_PATIENCE = 1.0


class ForkGate:
    """`with gate:` around what must not be cut in two; a fork waits until nobody is inside."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._shut, after_in_parent=self._open, after_in_child=self._begin)

    def _begin(self) -> None:
        # Taken by itself, not through the condition: an interrupt in its `__enter__` would leave it taken.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._inside = 0
        self._forking = 0
        self._own = threading.local()

    def __enter__(self) -> None:
        depth: int = getattr(self._own, "depth", 0)
        self._own.depth = depth + 1
        if depth:
            return
        with self._lock:
            if self._forking:
                self._changed.wait_for(lambda: not self._forking, 2 * _PATIENCE)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        self._own.depth -= 1
        if self._own.depth:
            return
        with self._lock:
            self._inside -= 1
            if self._forking:
                self._changed.notify_all()

    def _shut(self) -> None:
        mine = 1 if getattr(self._own, "depth", 0) else 0
        with self._lock:
            self._forking += 1
            self._changed.wait_for(lambda: self._inside <= mine, _PATIENCE)

    def _open(self) -> None:
        with self._lock:
            self._forking -= 1
            self._changed.notify_all()
