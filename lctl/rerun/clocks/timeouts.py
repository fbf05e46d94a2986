"""Timeouts of conditions, events, queues and futures, on virtual time.

All of them wait in `threading.Condition.wait`, which makes a lock for each wait and takes it with a timeout.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lctl.rerun.clocks.timekeeper import Timekeeper


def lock_factory(keeper: Timekeeper) -> Callable[[], TimedLock]:
    """What stands for `threading._allocate_lock`."""
    return lambda: TimedLock(keeper)


class TimedLock:
    """A lock whose timeouts are the conductor's."""

    __slots__ = ("_inner", "_keeper", "_lock", "_rung")

    def __init__(self, keeper: Timekeeper) -> None:
        self._keeper = keeper
        self._lock = allocate_lock()
        self._inner = allocate_lock()  # between who releases it and the alarm
        self._rung = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if not blocking or timeout < 0 or self._keeper.is_stranger():
            return self._lock.acquire(blocking, timeout)
        if self._lock.acquire(False):
            return True
        alarm = self._keeper.add(timeout, self._ring)
        try:
            self._lock.acquire()
        finally:
            self._keeper.remove(alarm)
        with self._inner:
            rung, self._rung = self._rung, False
        return not rung

    def release(self) -> None:
        with self._inner:
            if not self._rung:
                self._lock.release()

    def locked(self) -> bool:
        return self._lock.locked()

    def _ring(self) -> None:
        with self._inner:
            if self._lock.locked() and not self._rung:
                self._rung = True
                self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: Any) -> None:
        self.release()
