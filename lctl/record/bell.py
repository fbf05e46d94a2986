"""What wakes a thread of ours, rung by the program's own threads."""

from __future__ import annotations

from _thread import allocate_lock
from contextlib import suppress


class Bell:
    """Rung once or more, it lets one wait pass, now or later.

    Not an Event: an interrupt as one is set (Ctrl-C in a call of it) may leave the lock inside it taken, and
    whoever sets it next waits for ever.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._lock.acquire()

    def ring(self) -> None:
        if self._lock.locked():
            with suppress(RuntimeError):  # another thread was faster
                self._lock.release()

    def wait(self, timeout: float = -1) -> bool:
        """Whether it was rung, within so many seconds; without a number, as soon as it is."""
        return self._lock.acquire(timeout=timeout)
