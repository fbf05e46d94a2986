"""Programs with deliveries at random moments: first in real time, then conducted.

What a program traces between deliveries is what it did between them.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable
from typing import Any

from lctl.clock import system_clock
from lctl.rerun.order.conductor import Conductor
from lctl.rerun.order.spots import LAST, Spot
from lctl.session.concurrency import lanes, threads, turnplaces, turns
from lctl.session.concurrency.lane import Lane
from lctl.session.concurrency.underway import UnderWay, busy_lanes

Program = Callable[["World"], None]

_sleep = time.sleep


class World:
    """Where a program's answers come from.

    Attributes:
        trace: what the program did.
        moments: what reached it, and when.
    """

    def __init__(self, conductor: Conductor | None = None) -> None:
        self.conductor = conductor
        self.trace: list[Any] = []
        self.moments: list[tuple[float, tuple[str, str, int, int], int | None, Spot]] = []
        self._under_way = UnderWay(system_clock)
        self._chance = random.Random()
        self._started = time.perf_counter()
        self._lock = threading.Lock()

    def ask(self, what: Any) -> Any:
        key = self._key()
        moment = self._under_way.begin()
        if self.conductor is not None:
            self.conductor.wait(key)
            self.trace.append(what)
        else:
            turns.crossing(lanes.current())
            _sleep(self._delay())
            self.note(key, what)
        self._under_way.end(moment, delivers=False)
        return what

    def tell(self, what: Any) -> None:
        """A step begins: nothing is asked for, but it has its place."""
        lane = lanes.current()
        key = lane.path, "event", lane.number("event"), 0
        if self.conductor is not None:
            self.conductor.wait(key)
            self.trace.append(what)
        else:
            self.note(key, what)

    async def ask_async(self, what: Any) -> Any:
        key = self._key()
        moment = self._under_way.begin()
        if self.conductor is not None:
            await self.conductor.wait_async(key)
            self.trace.append(what)
        else:
            await asyncio.sleep(self._delay())
            self.note(key, what)
        self._under_way.end(moment, delivers=False)
        return what

    def note(self, key: tuple[str, str, int, int], *traced: Any) -> None:
        """Something reaches the program. What that traces at once is one with it: no other thread's comes
        between."""
        turn, behind = turns.since(), turnplaces.behind(busy_lanes)
        with self._lock:
            at = (time.perf_counter() - self._started) * 1000
            self.moments.append((at, key, turn, LAST if behind is None else Spot(None, behind)))
            self.trace += traced

    def _delay(self) -> float:
        return 0.002 + self._chance.random() * 0.02

    def _key(self) -> tuple[str, str, int, int]:
        lane = lanes.current()
        return lane.path, "exchange", lane.number("exchange"), 0


def record(program: Program) -> World:
    """Run in real time."""
    world = World()
    real: Any = BaseEventLoop
    run_once, call = real._run_once, real.call_soon_threadsafe

    def _run_once(loop: Any) -> None:
        loop._lctl_turn = getattr(loop, "_lctl_turn", 0) + 1
        run_once(loop)

    def call_soon_threadsafe(loop: Any, callback: Any, *args: Any, **options: Any) -> Any:
        lane = turns.crossed.pop(threading.get_ident(), None) if turns.running() is not loop else None
        lane = turns.job_in(callback, args) or lane
        if lane is None:
            return call(loop, callback, *args, **options)

        def woken(*args: Any) -> None:
            world.note((lane.path, "wake", lane.number("wake"), 0))
            callback(*args)

        return call(loop, woken, *args, **options)

    real._run_once, real.call_soon_threadsafe = _run_once, call_soon_threadsafe
    try:
        _run(program, world)
    finally:
        real._run_once, real.call_soon_threadsafe = run_once, call
        turns.crossed.clear()
    world.moments.sort(key=lambda moment: moment[0])
    return world


def conduct(program: Program, recorded: World) -> World:
    """Run on virtual time, in the recorded order."""
    conductor = Conductor(recorded.moments)
    world = World(conductor)
    conductor.install()
    try:
        _run(program, world)
    finally:
        conductor.uninstall()
    return world


def _run(program: Program, world: World) -> None:
    token = lanes.enter(Lane("0"))
    threads.install()
    before, turns.active = turns.active, True
    try:
        program(world)
    finally:
        turns.active = before
        threads.uninstall()
        lanes.leave(token)
