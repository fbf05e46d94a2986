"""Virtual time on event loops, in `time.sleep`, `signal.alarm` and timeouts of locks, with a conductor.

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
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from lctl.clock import monotonic
from lctl.rerun.clocks import standins
from lctl.rerun.clocks.libraryclocks import LibraryClocks
from lctl.rerun.clocks.signaltimers import SignalTimers
from lctl.rerun.clocks.timeouts import lock_factory
from lctl.rerun.order.idleloop import IdleLoop, idle_of
from lctl.rerun.order.parties import refuse
from lctl.session.concurrency import collector, nestedloops
from lctl.session.concurrency.turns import is_closing, job_in

if TYPE_CHECKING:
    from lctl.rerun.clocks.timekeeper import Timekeeper

#: Modules whose functions stand between the program's call and ours.
_ON_TOP = ("lctl.instrument.", standins.__name__)

_real_sleep = time.sleep


class VirtualTime:
    """Puts one conductor's time in place, and takes it out.

    Args:
        wall: seconds of the clock on the wall at the recording's origin; None if unknown: it is now.
        living: the same for libraries, where the program goes on live behind a part of the recording.
    """

    def __init__(self, keeper: Timekeeper, wall: float | None = None, living: float | None = None) -> None:
        self._keeper = keeper
        self._wall = wall
        self._living = living
        self._base = monotonic()
        self._undo: list[tuple[Any, str, Any]] = []
        self._away: list[Callable[[], None]] = []
        self._unwrap: Callable[[], None] = lambda: None
        self._attached: list[Any] = []
        self._libraries: LibraryClocks | None = None
        self._signals: SignalTimers | None = None

    def install(self) -> None:
        """Idempotent."""
        if self._away:
            return
        from asyncio.base_events import BaseEventLoop

        loop: Any = BaseEventLoop
        self._base = monotonic()
        self._unwrap = nestedloops.wrap(self._following)
        self._away.append(standins.put(loop, "call_soon_threadsafe", self._holding))
        if self._keeper.pace.realtime:
            return
        self._replace(loop, "time", self._time(loop.time))
        self._away.append(standins.put(time, "sleep", lambda _: self._sleep))
        self._replace(threading, "_allocate_lock", lock_factory(self._keeper))
        self._replace(threading, "_time", self.monotonic)
        import queue
        from concurrent.futures import _base

        self._replace(queue, "time", self.monotonic)
        self._replace(_base, "time", SimpleNamespace(monotonic=self.monotonic))
        wall = time.time() - self._keeper.pace.read() / 1000 if self._wall is None else self._wall
        living = wall if self._living is None else self._living
        self._libraries = LibraryClocks(self._keeper.pace, self._base, wall, living)
        self._libraries.install()
        self._signals = SignalTimers(self._keeper, self.monotonic, self._replace)
        self._signals.install()

    def uninstall(self) -> None:
        if self._libraries is not None:
            self._libraries.uninstall()
            self._libraries = None
        if self._signals is not None:
            self._signals.uninstall()
            self._signals = None
        while self._undo:
            owner, name, before = self._undo.pop()
            setattr(owner, name, before)
        while self._away:
            self._away.pop()()
        self._unwrap()
        for idle in self._attached:
            idle.leave()
        self._attached.clear()

    def is_first(self, loop: Any, at: float) -> bool:
        """Whether the running task of this loop may go on with what comes at `at` (ms): no other one could
        run, and no timer comes before."""
        idle = idle_of(loop)
        if idle is None or loop._ready or idle.has_traffic():
            return False
        when = self.reading(at)
        return all(handle._when > when for handle in loop._scheduled if not handle._cancelled)

    def reached(self, loop: Any) -> None:
        """Something reaches this loop now, in its own thread."""
        idle = idle_of(loop)
        if idle is not None:
            idle.reached = idle.turn

    def has_reached(self, loop: Any) -> bool:
        """Whether something reached this loop in the turn that runs."""
        idle = idle_of(loop)
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
            if idle_of(loop) is None and not collector.runs_here():
                self._attached = [idle for idle in self._attached if not idle.is_over()]
                self._attached.append(IdleLoop(self, self._keeper, loop))
            run_once(loop)

        return _run_once

    def _holding(self, real: Callable[..., Any]) -> Callable[..., Any]:
        keeper = self._keeper

        def call_soon_threadsafe(loop: Any, callback: Any, *args: Any, context: Any = None) -> Any:
            idle = idle_of(loop)
            free = callback is refuse or (args and is_closing(args[0])) or collector.runs_here()
            if idle is not None and not free:
                job = job_in(callback, args)
                held = keeper.hold(idle, job, lambda: Handle(callback, args, loop, context))
                if held is not None:
                    return held
            return real(loop, callback, *args, context=context)

        return call_soon_threadsafe

    def _time(self, real: Callable[[Any], float]) -> Callable[[Any], float]:
        def virtual(loop: Any) -> float:
            return real(loop) if collector.runs_here() else self.monotonic()

        return virtual

    def _sleep(self, seconds: float, /) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_globals.get("__name__", "").startswith(_ON_TOP):
            frame = frame.f_back
        caller = "" if frame is None else frame.f_globals.get("__name__", "").partition(".")[0]
        ours = caller == "lctl" or (caller in sys.stdlib_module_names and caller != "__main__")
        if ours or not seconds > 0 or self._keeper.is_stranger():
            _real_sleep(seconds)
        else:
            self._keeper.sleep(seconds)
