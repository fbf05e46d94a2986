"""Who waits for the conductor: threads, coroutines, sleepers, idle event loops."""

from __future__ import annotations

import asyncio
import threading
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable
from typing import Any


class Door:
    """`with door:` is alone inside. Who waits before it is not at rest: it is about to say what it waits for.

    Attributes:
        arriving: one for each that waits.
    """

    __slots__ = ("arriving", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.arriving: list[None] = []

    def renew(self) -> None:
        """In a forked child: who was inside is not there."""
        self.lock = threading.RLock()
        self.arriving.clear()

    def __enter__(self) -> None:
        self.arriving.append(None)
        try:
            self.lock.acquire()
        finally:
            self.arriving.pop()

    def __exit__(self, *error: object) -> None:
        self.lock.release()


class Blocked:
    """A thread that waits here: for a delivery, until a moment, or for ever.

    Attributes:
        place: of the delivery; None for a sleep.
        until: virtual ms; None for a delivery.
        tid: the system's number of the thread.
        error: to be raised where it waits.
        act: to be done by it in between, where it waits: to hear a signal.
    """

    __slots__ = ("_lock", "act", "error", "place", "released", "tid", "until")

    def __init__(self, place: int | None, until: float | None) -> None:
        self.place = place
        self.until = until
        self.tid = threading.get_native_id()
        self.released = False
        self.error: BaseException | None = None
        self.act: Callable[[], None] | None = None
        self._lock = allocate_lock()
        self._lock.acquire()

    def release(self) -> None:
        self.released = True
        if self.act is None:  # else it is up already, and looks behind that
            self._lock.release()

    def interrupt(self, act: Callable[[], None]) -> None:
        self.act = act
        self._lock.release()

    def block(self) -> None:
        """Until it is released or interrupted."""
        self._lock.acquire()


class Queued(Blocked):
    """A thread that waits for others to do with a queue what they did before it. `until` is when it no longer
    does, if nothing else happens before; it is let go on earlier where it may be who asks for what is due."""

    __slots__ = ()


class Asking(Blocked):
    """Who asks a server from outside, in a turn of its loop: that stands still for it, or is at rest."""

    __slots__ = ()


class Awaiting:
    """A coroutine that waits for a delivery.

    Attributes:
        place: of the delivery.
        loop: asyncio's, or one like it; None of a trio task.
        tid: the system's number of the thread it runs in.
    """

    __slots__ = ("_future", "loop", "place", "tid")

    def __init__(self, place: int, loop: Any, future: Any) -> None:
        self.place = place
        self.loop = loop
        self.tid = threading.get_native_id()
        self._future = future

    def is_over(self) -> bool:
        """Whether it goes on already: what it waits on is done, or cancelled."""
        return bool(self._future.done())

    def give(self, at: int) -> int:
        """In its loop's own thread, at that place among what is ready; the place behind it."""
        ready = self.loop._ready
        first = 0 if self._future.done() else len(ready)  # it goes on already if it has been cancelled
        _give(self._future)
        mine = _wakes(ready, self._future, first)
        if mine is None:
            return at
        handle = ready[mine]
        del ready[mine]
        at -= mine < at
        ready.insert(at, handle)
        return at + 1

    def wake(self) -> None:
        """In whatever thread, where its loop is none of ours."""
        if self.loop is None:
            self._future.resume()
        else:
            self.loop.call_soon_threadsafe(_give, self._future)


class Ending(Awaiting):
    """A coroutine that waits to be cancelled, which is to reach it in the turn of its delivery.

    Whoever cancels it in that very turn finds it waiting still, as anyio's scopes want it, and it goes on in
    its place there all the same: in the recording something else had let it, an answer that it did not take
    any more, or it had let others go first. If it was cancelled before, it goes on because of that; of
    several in the order of their deliveries, whichever a set of tasks gave first to be cancelled.
    """

    __slots__ = ()

    def give(self, at: int) -> int:
        if self._future.done() or not self._future._callbacks:
            return super().give(at)
        _, context = self._future._callbacks[0]
        self.loop._ready.insert(at, asyncio.Handle(self._go_on, (), self.loop, context.copy()))
        return at + 1

    def _go_on(self) -> None:
        _give(self._future)
        ready = self.loop._ready
        mine = _wakes(ready, self._future, 0)
        if mine is not None:
            handle = ready[mine]
            del ready[mine]
            handle._run()


class Held:
    """What a thread handed to an event loop, or a timer of it, kept back until its turn.

    What it hands over meanwhile comes behind it, as all does that one thread hands to a loop.

    Attributes:
        until: virtual ms before which the clock does not say that it is time; of a timer.
    """

    __slots__ = ("_following", "_given", "_handle", "loop", "place", "tid", "until")

    def __init__(self, place: int, loop: Any, tid: int, handle: Any, until: float = 0.0) -> None:
        self.until = until
        self.place = place
        self.loop = loop
        self.tid = tid
        self._handle = handle
        self._following: deque[Any] = deque()
        self._given = False

    def follow(self, handle: Any) -> bool:
        """Have `handle` come behind; False where this was given already: then whoever asks hands it over."""
        if self._given:
            return False
        self._following.append(handle)
        if self._given:  # just now, in the loop's thread: one of the two takes it out
            try:
                self._following.remove(handle)
            except ValueError:
                return True
            return False
        return True

    def give(self, at: int) -> int:
        """In its loop's own thread, at that place among what is ready; the place behind it."""
        self._given = True
        ready = self.loop._ready
        ready.insert(at, self._handle)
        while self._following:
            try:
                handle = self._following.popleft()
            except IndexError:
                break
            at += 1
            ready.insert(at, handle)
        return at + 1


def _wakes(ready: Any, future: Any, first: int) -> int | None:
    """Where, from there on, who waits on `future` is told that it is done; None if that is not so."""
    for at in range(first, len(ready)):  # other threads may hand in more
        handle = ready[at]
        if handle._args and handle._args[0] is future:
            return at
    return None


def _give(future: Any) -> None:
    if not future.done():
        future.set_result(None)


def refuse(future: Any, error: BaseException) -> None:
    """In its loop's own thread."""
    if not future.done():
        future.set_exception(error)


class Alarm:
    """What is called at a virtual moment, in whatever thread.

    Attributes:
        used: seconds of processor time, of this process, at which it is called though virtual time does not
            come so far: what waits for it computes.
    """

    __slots__ = ("ring", "until", "used")

    def __init__(self, until: float, ring: Callable[[], None], used: float | None = None) -> None:
        self.until = until
        self.ring = ring
        self.used = used


def running_loop() -> Any:
    """The event loop of asyncio's kind that runs in this thread; None without one."""
    return asyncio._get_running_loop()
