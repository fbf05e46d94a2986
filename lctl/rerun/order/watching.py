"""The thread that looks again: what blocks in a lock or ends does not say so."""

from __future__ import annotations

import os
import sys
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Iterator

from lctl.clock import monotonic

_SOONEST, _LATEST = 0.0001, 0.004
#: What the thread is called by the system: 15 characters at most.
NAME = "lctl-watch"
_monotonic = monotonic


class Watch:
    """Calls `look` in a while, and again as long as that asks for it.

    Its thread is none of `threading`'s: the program's own are all that it sees there.

    Attributes:
        tid: the system's number of the thread; 0 where there is none.
    """

    def __init__(self, look: Callable[[], None]) -> None:
        self._look = look
        self._bell = allocate_lock()
        self._bell.acquire()
        self._delay = _SOONEST
        self._due: float | None = None
        self._stopped = False
        self._running = False
        self.tid = 0

    def soon(self) -> None:
        """Look again; the later, the more often it was in vain."""
        mine = threading.get_native_id() == self.tid
        self._delay = min(self._delay * 1.5, _LATEST) if mine else _SOONEST
        self.after(self._delay)

    def after(self, seconds: float) -> None:
        due = _monotonic() + max(seconds, _SOONEST)
        if self._due is not None and self._due <= due:
            return
        self._due = due
        if not self._running:
            self._start()
        elif threading.get_native_id() != self.tid:
            self._ring()

    def stop(self) -> None:
        self._stopped = True
        self._ring()

    def _ring(self) -> None:
        try:
            self._bell.release()
        except RuntimeError:
            pass  # it has been rung

    def _start(self) -> None:
        self._running, self._stopped = True, False
        started = allocate_lock()
        started.acquire()
        start_new_thread(self._run, (started.release,))
        started.acquire()

    def _run(self, started: Callable[[], None]) -> None:
        self.tid = threading.get_native_id()
        _name(self.tid)
        started()
        while not self._stopped:
            due = self._due
            left = -1.0 if due is None else due - _monotonic()
            if due is None or left > 0:
                self._bell.acquire(True, left)
                continue
            self._due = None
            self._look()
        self._running = False
        self.tid = 0


def _name(tid: int) -> None:
    """For who looks at this process from outside: what this thread does is none of the program's."""
    if sys.platform == "linux":
        try:
            with open(f"/proc/self/task/{tid}/comm", "w") as file:  # noqa: PTH123
                file.write(NAME)
        except OSError:
            pass


def has_children() -> bool:
    """Whether this process has started others that have not ended. Those of multiprocessing that
    do nothing of themselves do not count: the one that keeps count of its semaphores, and the one that forks
    others when asked, while it has none."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (AttributeError, OSError):
        return False
    found = _children("self")
    return not found or not {process for process in found if _lives(process)} <= _idle()


def shares() -> bool:
    """Whether this process is one of multiprocessing's, and another one has what it waits for of that."""
    module = sys.modules.get("multiprocessing.process")
    return getattr(module, "_parent_process", None) is not None


def _idle() -> set[int]:
    """Process ids of multiprocessing's servants that have nothing to do."""
    tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    server = getattr(sys.modules.get("multiprocessing.forkserver"), "_forkserver", None)
    counting: int | None = getattr(tracker, "_pid", None)
    forking: int | None = getattr(server, "_forkserver_pid", None)
    if forking is not None and _children(forking):
        forking = None
    return {process for process in (counting, forking) if process is not None}


def _children(process: int | str) -> set[int]:
    """Process ids; none where the system does not tell."""
    found: set[int] = set()
    try:
        for task in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208
            with open(f"/proc/{process}/task/{task}/children", "rb") as file:  # noqa: PTH123
                found.update(map(int, file.read().split()))
    except OSError:
        pass
    return found


def descendants() -> set[int]:
    """Process ids of those that this process started, and that those started."""
    found: set[int] = set()
    new = _children("self")
    while new:
        found |= new
        new = {child for process in new for child in _children(process)} - found
    return found


def listening(processes: set[int]) -> list[str]:
    """Where those listen: `127.0.0.1:8000`; nothing where the system does not tell."""
    sockets = {name for process in processes for name in _sockets(process)}
    return sorted({place for name, place in _listeners() if name in sockets})


def _sockets(process: int) -> set[str]:
    found = set()
    try:
        for number in os.listdir(f"/proc/{process}/fd"):  # noqa: PTH208
            try:
                found.add(os.readlink(f"/proc/{process}/fd/{number}"))  # noqa: PTH115
            except OSError:
                pass  # closed meanwhile
    except OSError:
        pass  # it has ended
    return found


def _listeners() -> Iterator[tuple[str, str]]:
    """(name, place) of each socket of the internet at which somebody listens."""
    for table, is_long in (("tcp", False), ("tcp6", True)):
        try:
            with open(f"/proc/net/{table}", "rb") as file:  # noqa: PTH123
                rows = file.read().decode().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            _, local, _, state, *rest = row.split()
            if state == "0A":
                yield f"socket:[{rest[5]}]", _spelled(local, is_long)


def _spelled(local: str, is_long: bool) -> str:
    address, port = local.split(":")
    words = bytes.fromhex(address)
    numbers = b"".join(words[n : n + 4][::-1] for n in range(0, len(words), 4))
    if is_long:
        return f"{'::1' if numbers == bytes(15) + bytes([1]) else '::'}:{int(port, 16)}"
    return f"{'.'.join(map(str, numbers))}:{int(port, 16)}"


def _lives(process: int) -> bool:
    """Not so one that has ended, and that nobody has waited for."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
            return file.read().rpartition(b") ")[2][:1] not in (b"Z", b"X")
    except OSError:
        return False
