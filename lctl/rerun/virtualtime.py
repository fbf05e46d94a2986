"""Virtual time on event loops, in `time.sleep` and in timeouts of locks, while a conductor is installed.

A loop with nothing to do asks its selector to wait; there it says so to the conductor, with the moment of
its next timer. Loops that are not asyncio's own (uvloop, trio) keep the real clock: what they wait for
comes in the recorded order, what they sleep takes its time.
"""

from __future__ import annotations

import sys
import threading
import time
from asyncio import Handle
from collections.abc import Callable
from time import monotonic
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from lctl.rerun.libraryclocks import LibraryClocks
from lctl.rerun.parties import refuse
from lctl.rerun.spots import Spot
from lctl.rerun.timeouts import lock_factory
from lctl.session.turns import is_closing, job_in

if TYPE_CHECKING:
    from lctl.rerun.parties import Awaiting, Held
    from lctl.rerun.timekeeper import Timekeeper

_real_sleep = time.sleep
#: Turns of a loop without rest after which it is taken for one that polls.
_POLLS = 300
_NOTHING = object()


class VirtualTime:
    """Puts one conductor's time in place, and takes it out."""

    def __init__(self, keeper: Timekeeper) -> None:
        self._keeper = keeper
        self._base = monotonic()
        self._undo: list[tuple[Any, str, Any]] = []
        self._attached: list[Any] = []
        self._libraries: LibraryClocks | None = None

    def install(self) -> None:
        """Idempotent."""
        if self._undo:
            return
        from asyncio.base_events import BaseEventLoop

        loop: Any = BaseEventLoop
        self._base = monotonic()
        self._replace(loop, "_run_once", self._following(loop._run_once))
        self._replace(loop, "call_soon_threadsafe", self._holding(loop.call_soon_threadsafe))
        if self._keeper.pace.realtime:
            return
        self._replace(loop, "time", self._time(loop.time))
        self._replace(time, "sleep", self._sleep)
        self._replace(threading, "_allocate_lock", lock_factory(self._keeper))
        self._replace(threading, "_time", self.monotonic)
        import queue
        from concurrent.futures import _base

        self._replace(queue, "time", self.monotonic)
        self._replace(_base, "time", SimpleNamespace(monotonic=self.monotonic))
        self._libraries = LibraryClocks(self.monotonic)
        self._libraries.install()

    def uninstall(self) -> None:
        if self._libraries is not None:
            self._libraries.uninstall()
            self._libraries = None
        while self._undo:
            owner, name, before = self._undo.pop()
            setattr(owner, name, before)
        for idle in self._attached:
            idle.leave()
        self._attached.clear()

    def is_first(self, loop: Any, at: float) -> bool:
        """Whether the running task of this loop may go on with what comes at `at` (ms): no other one could
        run, and no timer comes before."""
        idle = _idle_of(loop)
        if idle is None or loop._ready or idle.has_traffic():
            return False
        when = self.reading(at)
        return all(handle._when > when for handle in loop._scheduled if not handle._cancelled)

    def reached(self, loop: Any) -> None:
        """Something reaches this loop now, in its own thread."""
        idle = _idle_of(loop)
        if idle is not None:
            idle.reached = idle.turn

    def has_reached(self, loop: Any) -> bool:
        """Whether something reached this loop in the turn that runs."""
        idle = _idle_of(loop)
        return idle is not None and idle.reached == idle.turn

    def monotonic(self) -> float:
        return self._base + self._keeper.pace.read() / 1000

    def reading(self, ms: float) -> float:
        """What `loop.time()` says at a virtual moment."""
        return self._base + ms / 1000

    def moment(self, reading: float) -> float:
        """The virtual moment of a reading of `loop.time()`, in ms."""
        return (reading - self._base) * 1000

    def _replace(self, owner: Any, name: str, new: Any) -> None:
        self._undo.append((owner, name, owner.__dict__[name]))
        setattr(owner, name, new)

    def _following(self, run_once: Callable[[Any], None]) -> Callable[[Any], None]:
        def _run_once(loop: Any) -> None:
            if _idle_of(loop) is None:
                self._attached = [idle for idle in self._attached if not idle.is_over()]
                self._attached.append(IdleLoop(self, self._keeper, loop))
            run_once(loop)

        return _run_once

    def _holding(self, real: Callable[..., Any]) -> Callable[..., Any]:
        keeper = self._keeper

        def call_soon_threadsafe(loop: Any, callback: Any, *args: Any, context: Any = None) -> Any:
            idle = _idle_of(loop)
            if idle is not None and callback is not refuse and not (args and is_closing(args[0])):
                held = keeper.hold(idle, job_in(args), lambda: Handle(callback, args, loop, context))
                if held is not None:
                    return held
            return real(loop, callback, *args, context=context)

        return call_soon_threadsafe

    def _time(self, real: Callable[[Any], float]) -> Callable[[Any], float]:
        def virtual(loop: Any) -> float:
            return self.monotonic()

        return virtual

    def _sleep(self, seconds: float, /) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__", "").startswith("lctl.instrument."):
            frame = frame.f_back
        caller = "" if frame is None else frame.f_globals.get("__name__", "").partition(".")[0]
        ours = caller == "lctl" or (caller in sys.stdlib_module_names and caller != "__main__")
        if ours or not seconds > 0 or self._keeper.is_stranger():
            _real_sleep(seconds)
        else:
            self._keeper.sleep(seconds)


def follows(loop: Any) -> bool:
    """Whether this loop keeps virtual time."""
    return _idle_of(loop) is not None


def _idle_of(loop: Any) -> IdleLoop | None:
    selector = getattr(loop, "_selector", None)
    select = getattr(selector, "__dict__", {}).get("select")
    idle = getattr(select, "__self__", None)
    return idle if isinstance(idle, IdleLoop) else None


class IdleLoop:
    """One event loop, in place of its selector's `select`.

    Attributes:
        loop: the loop.
        tid: the system's number of its thread.
        until: virtual ms of its next timer while it waits; None if it has none.
        turn: how many it has begun.
        reached: the turn in which something last reached it.
        is_paused: it stands still though it has something to do.
    """

    def __init__(self, clock: VirtualTime, keeper: Timekeeper, loop: Any) -> None:
        self._clock = clock
        self._keeper = keeper
        self._selector = loop._selector
        self._real: Callable[[float | None], Any] = self._selector.select
        self._turns = 0
        self._polls = False
        self._granted: list[tuple[Awaiting | Held, bool, Spot]] = []
        self._next = 0  # among what is ready: behind what has been given in this turn
        self.is_paused = False
        self.turn = 0
        self.reached: int | None = None
        self.loop = loop
        self.tid = threading.get_native_id()
        self.until: float | None = None
        self._selector.select = self._select

    def leave(self) -> None:
        self._selector.__dict__.pop("select", None)

    def is_over(self) -> bool:
        return self.loop._selector is not self._selector

    def is_called(self) -> bool:
        """Whether something has come for it that it has not seen."""
        return bool(self.loop._ready) and not self.is_paused and not self._polls

    def has_traffic(self) -> bool:
        """Whether it waits for something of the world: any file but the one that wakes it."""
        try:
            return len(self._selector.get_map()) > 1
        except (AttributeError, TypeError, RuntimeError):
            return False

    def wake(self) -> None:
        if threading.get_native_id() != self.tid:
            self.loop._write_to_self()

    def grant(self, party: Awaiting | Held, counts: bool, spot: Spot) -> None:
        """Let `party` have what it waits for. `counts`: its turn was recorded; `spot`: its place there."""
        self._granted.append((party, counts, spot))
        self.wake()

    def _select(self, timeout: float | None = None) -> Any:
        """Begin a turn, with what is to reach the loop in it."""
        self.tid = threading.get_native_id()
        self.turn += 1
        self._next = 0
        if self._keeper.pace.realtime:
            events = self._rest(timeout)
        else:
            events = self._turn() if timeout is not None and timeout <= 0 else self._rest(timeout)
        given = self._give()
        while self.loop._ready and self._keeper.is_due(self, given):
            events = [*events, *self._pause()]
            if not self._give():
                break
            given = True
        # What it does itself may be followed in this turn, too: the start of a tool by another's result.
        place = self._keeper.follows_in_turn(self, surely=False) if self.loop._ready else None
        if place is not None:
            ready, spot = self.loop._ready, self._keeper.spot(place)
            here = Handle(self._go_on_in_turn, (given,), self.loop)
            ready.insert(spot.place(ready), here)
        return events

    def _go_on_in_turn(self, given: bool) -> None:
        """What reached the loop in this turn has run: let threads go on that did so before the rest of it."""
        ready = self.loop._ready
        while given or self.reached == self.turn:
            if self._keeper.follows_in_turn(self, surely=True) is None:
                return
            self._pause()  # what it saw of files it will see again
            there = len(ready)
            if not self._give(at_once=True):
                return
            for handle in [ready.pop() for _ in range(len(ready) - there)][::-1]:
                if not handle._cancelled:
                    handle._run()

    def _give(self, at_once: bool = False) -> bool:
        """Whether anything reached the loop. `at_once`: it is to stand behind all that is there."""
        given = bool(self._granted)
        ready = self.loop._ready
        for party, counts, spot in self._granted:
            at = len(ready) if at_once else max(spot.place(ready), self._next)
            self._next = party.give(at)
            if counts:
                self.reached = self.turn
        self._granted.clear()
        return given

    def _rest(self, timeout: float | None) -> Any:
        """There is nothing to do before `timeout` has passed."""
        self._turns = 0
        realtime = self._keeper.pace.realtime
        if realtime or self.has_traffic():
            events = self._real(0)
            if events or (timeout is not None and timeout <= 0):
                return events
        self.until = None
        if timeout is not None and not realtime:
            self.until = self._clock.moment(self.loop._scheduled[0]._when)
        if self._keeper.idle(self):
            return self._real(0)
        try:
            return self._real(timeout if realtime else None)
        finally:
            self._keeper.awake(self)

    def _turn(self) -> Any:
        """There is something to do; is the loop one that polls?"""
        self._turns += 1
        if self._turns < _POLLS or not self._keeper.is_waited_for():
            return self._real(0)
        self._turns = 0
        self._polls, self.until = True, None
        try:
            if not self._keeper.idle(self):
                self._keeper.awake(self)
        finally:
            self._polls = False
        return self._real(0)

    def _pause(self) -> Any:
        """Stand still until the next has reached the loop, or something of the world."""
        self.loop._read_from_self()  # what woke it before in this turn would end the wait at once
        self.is_paused, self.until = True, None
        try:
            if self._keeper.idle(self):
                return self._real(0)
            try:
                return self._real(None)
            finally:
                self._keeper.awake(self)
        finally:
            self.is_paused = False
