"""Whether the other threads of this process are at rest: blocked, and not about to go on.

A thread that waits for the interpreter's lock is blocked for the operating system too, though it is about
to go on. But it is woken whenever this thread lets go of that lock, as each reading of a file does. So a
thread is at rest if it waits, and has used no processor since a reading before: it was not among those
woken, or it is running, or next in line for a processor, and the system says so.

Elsewhere than on Linux: if no thread's innermost frame has moved for two milliseconds.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Collection
from time import process_time, sleep, thread_time

from lctl.rerun.order.systemcalls import FUTEX, is_lock, is_own_pipe, is_within

_TASKS = "/proc/self/task"
_LINUX = sys.platform == "linux" and os.path.exists(f"{_TASKS}/{threading.get_native_id()}/schedstat")  # noqa: PTH110
_GRACE = 0.002
_sleep = sleep
#: Where Python's own code for imports says that it is.
_IMPORTING = "<frozen importlib._bootstrap>"
#: A thread that was given up so many times is not waited for again.
_OFTEN = 3
#: After this many readings at rest a thread that is not Python's is not looked at any more.
_FOREIGN = 16

_active: dict[int, threading.Thread] = threading._active  # type: ignore[attr-defined]
_limbo: dict[threading.Thread, threading.Thread] = threading._limbo  # type: ignore[attr-defined]


def number_of(thread: threading.Thread) -> int | None:
    """The system's number of it. After a fork Python keeps the one of who forked for the main thread, to whom
    Linux gives the number of the process."""
    return os.getpid() if _LINUX and thread is threading.main_thread() else thread.native_id


class Threads:
    """The threads of this process that are not known to be waiting for the conductor."""

    def __init__(self) -> None:
        here = {threading.main_thread().ident, threading.get_ident()}
        #: Threads that were there before the program: not its own.
        self.strangers = {number_of(t) for ident, t in list(_active.items()) if ident not in here}
        self._files: dict[int, tuple[int, int]] = {}
        self._foreign: dict[int, int] = {}
        self._busy: set[int] = set()
        self._ceaseless: set[int] = set()
        self._given_up: Counter[int] = Counter()

    def some(self, parked: Collection[int]) -> bool:
        """Whether there are Python threads beside `parked` (native ids) and the strangers."""
        if _limbo:
            return True
        for thread in list(_active.values()):
            native = number_of(thread)
            if native not in parked and native not in self.strangers:
                return True
        return False

    def at_rest(self, parked: Collection[int], watch: int) -> bool:
        """Whether all threads but this one are at rest.

        Those in `parked` (native ids) are looked at too: one on its way to block waits for the interpreter's
        lock perhaps, and would be woken in place of the one that is to be found.

        Args:
            watch: our own thread, which looks again.
        """
        if not _LINUX:
            return self._still(parked)
        if _limbo:  # a thread that is being started
            return False
        watched = self._watched((), watch)
        before = [self._used(tid) for tid in watched]
        self._busy = set()
        resting = True
        for tid, used in zip(watched, before, strict=True):
            if used is None or tid in self._ceaseless:
                continue
            state = self._state(tid)
            now = self._used(tid)
            if now is not None and (now != used or state not in b"SIT"):
                self._busy.add(tid)
                resting = False
            elif tid in self._foreign:
                self._foreign[tid] += 1
        return resting and not _limbo

    def spent(self, watch: int) -> float:
        """Seconds of processor time that all threads but `watch` have used so far, whichever asks."""
        if not _LINUX:
            return process_time()
        used = (self._used(tid) for tid in self._watched((), 0) if tid != watch)
        others = sum(int(text.split()[0]) for text in used if text) / 1e9
        return others if threading.get_native_id() == watch else others + thread_time()

    def used(self, watch: int) -> list[object]:
        """The processor time of each thread but this one: equal, if none has run since. Nothing, where the
        system does not say so."""
        watched = self._watched((), watch) if _LINUX else []
        return [self._used(tid) for tid in watched if tid not in self._ceaseless]

    def is_one_importing(self) -> bool:
        """Whether one of those that were found running is importing a module."""
        frames = sys._current_frames()
        for ident, thread in list(_active.items()):
            frame = frames.get(ident) if number_of(thread) in self._busy else None
            while frame is not None:
                if frame.f_code.co_filename == _IMPORTING:
                    return True
                frame = frame.f_back
        return False

    def give_up(self) -> None:
        """Those that were found running do not come to rest: do not wait for them any more."""
        self._ceaseless |= self._busy
        self._given_up.update(self._busy)

    def came(self, tid: int) -> None:
        """It rests, as it says itself: from now on it is waited for again, unless it was given up often."""
        if tid in self._ceaseless and self._given_up[tid] < _OFTEN:
            self._ceaseless.discard(tid)

    def any_outside(self, parked: Collection[int], alone: bool) -> bool:
        """Whether a thread is blocked in something that is not in this program: a process, a socket, a
        file, a real sleep. Not so one that waits for changes of files that it watches. `alone`: no other
        process has what this one has of multiprocessing's."""
        if not _LINUX or FUTEX is None:
            return False
        for tid in self._watched(parked, 0):
            if tid in self._foreign or tid in self._ceaseless:
                continue
            try:
                with open(f"{_TASKS}/{tid}/syscall", "rb", buffering=0) as file:  # noqa: PTH123
                    call = file.read(128).split()
            except OSError:
                continue
            if call[:1] not in ([FUTEX], [b"running"]) and not is_within(call, alone):
                return True
        return False

    def are_locked(self, parked: Collection[int], alone: bool) -> bool:
        """Whether all threads but those in `parked` and the strangers, also such as are not Python's, wait in
        locks of this process, without a limit of time; where it is `alone`, in those of multiprocessing and
        its pipes, too. False where the system does not tell."""
        if not _LINUX or FUTEX is None or _limbo:
            return False
        for tid in map(int, os.listdir(_TASKS)):  # noqa: PTH208
            if tid in parked or tid in self.strangers:
                continue
            try:
                with open(f"{_TASKS}/{tid}/syscall", "rb", buffering=0) as file:  # noqa: PTH123
                    call = file.read(128).split()
            except OSError:
                return False
            if not (is_lock(call, alone) or (alone and is_own_pipe(call))):
                return False
        return True

    def close(self) -> None:
        for stat, used in self._files.values():
            os.close(stat)
            os.close(used)
        self._files.clear()

    def _watched(self, parked: Collection[int], watch: int) -> list[int]:
        me = threading.get_native_id()
        python = {number_of(thread) for thread in list(_active.values())}
        watched = []
        for tid in map(int, os.listdir(_TASKS)):  # noqa: PTH208
            if tid == me or tid in parked or tid in self.strangers:
                continue
            if tid in python or tid == watch:
                self._foreign.pop(tid, None)
            elif tid not in self._files:
                self._foreign[tid] = 0  # not Python's, or one that has just ended
            if self._foreign.get(tid, 0) < _FOREIGN:
                watched.append(tid)
        return watched

    def _open(self, tid: int) -> tuple[int, int] | None:
        files = self._files.get(tid)
        if files is None:
            try:
                stat = os.open(f"{_TASKS}/{tid}/stat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return None
            try:
                used = os.open(f"{_TASKS}/{tid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                os.close(stat)
                return None
            files = self._files[tid] = stat, used
        return files

    def _used(self, tid: int) -> bytes | None:
        """Processor time and how often it ran; None once it has ended."""
        files = self._open(tid)
        return None if files is None else self._read(tid, files[1])

    def _state(self, tid: int) -> bytes:
        files = self._open(tid)
        text = None if files is None else self._read(tid, files[0])
        return b"S" if not text else text.rpartition(b")")[2][1:2]

    def _read(self, tid: int, file: int) -> bytes | None:
        try:
            text = os.pread(file, 400, 0)
        except OSError:
            text = b""
        if text:
            return text
        self._ceaseless.discard(tid)
        self._given_up.pop(tid, None)
        self._foreign.pop(tid, None)
        for open_file in self._files.pop(tid, ()):
            os.close(open_file)
        return None

    def _still(self, parked: Collection[int]) -> bool:
        before = self._frames(parked)
        _sleep(_GRACE)
        return not _limbo and self._frames(parked) == before

    def _frames(self, parked: Collection[int]) -> dict[int, tuple[int, int]]:
        frames = sys._current_frames()
        away = {
            ident
            for ident, t in list(_active.items())
            if number_of(t) in parked or number_of(t) in self.strangers
        }
        me = threading.get_ident()
        return {i: (id(f), f.f_lasti) for i, f in frames.items() if i != me and i not in away}
