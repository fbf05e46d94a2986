"""Writes a buffered log every 80 ms while there is something to write, and before `os._exit`."""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from lctl import interrupts
from lctl.errors import RecordingError
from lctl.guard import guard
from lctl.record.bell import Bell

if TYPE_CHECKING:
    from lctl.record.journal import JournalStore

#: Seconds; with the write itself the promise is 100 ms.
_PAUSE = 0.08

_stores: weakref.WeakSet[JournalStore] = weakref.WeakSet()
_exit: Any = None
_sleep = time.sleep


class Flusher:
    """One daemon thread for one store; it holds the store weakly and ends with it.

    Forking a process with threads warns since Python 3.12 (in 3.13 after the hooks that follow a fork):
    the thread ends before a fork, and begins anew with the next event.
    """

    def __init__(self, store: JournalStore) -> None:
        self._store = weakref.ref(store, self._end)
        self._stopped = self._paused = False
        self._begin()
        _stores.add(store)
        _flushers.add(self)
        _catch_exit()
        _watch_forks()

    def _begin(self) -> None:
        self._wanted, self._over = Bell(), Bell()
        self._thread = threading.Thread(
            target=self._run, args=(self._wanted, self._over), name="lctl-flusher", daemon=True
        )
        interrupts.start(self._thread)
        self._paused = False

    def wake(self) -> None:
        if self._paused and not self._stopped:
            self._begin()  # the first event after a fork
        self._wanted.ring()

    def stop(self) -> None:
        self._stopped = True
        self._end()
        store = self._store()
        if store is not None:
            _stores.discard(store)
        if not _stores:
            _release_exit()

    def pause(self) -> None:
        """Write what there is and end the thread, until the next event.

        Not waiting long: this thread may hold what the other waits for.
        """
        store = self._store()
        if store is not None and store.lock.acquire(timeout=0.1):
            try:
                store.flush()
            except RecordingError as error:
                guard.failed("events", error)
            finally:
                store.lock.release()
        self._paused = True
        self._end()
        self._thread.join(0.5)

    def _end(self, _: object = None) -> None:
        self._over.ring()
        self._wanted.ring()

    def _run(self, wanted: Bell, over: Bell) -> None:
        while True:
            wanted.wait()
            if over.wait(_PAUSE):
                return
            store = self._store()
            if store is None:
                return
            try:
                store.flush()
            except RecordingError as error:
                guard.failed("events", error)
                wanted.ring()  # what is kept is tried again
            del store


_flushers: weakref.WeakSet[Flusher] = weakref.WeakSet()
_watching = False


def _watch_forks() -> None:
    global _watching
    if not _watching and hasattr(os, "register_at_fork"):
        _watching = True
        os.register_at_fork(before=_pause_all)


def _pause_all() -> None:
    flushers = [flusher for flusher in _flushers if not flusher._stopped]
    for flusher in flushers:
        flusher.pause()
    if flushers:
        _await_kernel()


def _await_kernel() -> None:
    """A joined thread is gone for Python a moment before it is for the kernel; 20 ms at most."""
    for _ in range(20):
        try:
            if len(os.listdir("/proc/self/task")) <= threading.active_count():  # noqa: PTH208
                return
        except OSError:
            return  # no such place here
        _sleep(0.001)


def _catch_exit() -> None:
    """`os._exit` runs no handlers: go in front of it while a buffer may hold something."""
    global _exit
    if _exit is None:
        _exit = os._exit
        os._exit = _exit_after_flush


def _release_exit() -> None:
    global _exit
    if _exit is not None and os._exit is _exit_after_flush:
        os._exit = _exit
        _exit = None


def _exit_after_flush(status: int) -> NoReturn:
    for store in list(_stores):
        # Another thread may hold the lock and never give it back: do not wait long.
        if store.lock.acquire(timeout=0.1):
            try:
                store.flush()
            except Exception:
                pass
    _exit(status)
    raise AssertionError("os._exit returned")
