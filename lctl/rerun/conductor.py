"""The conductor: recorded deliveries reach the program in the recorded order, on virtual time.

Served from a tape everything would come at once, and whatever depends on who is first would come out
otherwise. So each delivery waits for its turn; and its turn comes when all that runs has come to rest,
so that code between two deliveries runs as it did. Time is virtual: at rest the clock jumps to what comes
next, a recorded delivery or a timer. Nothing waits for real time, and timeouts fire where they fired.

Whoever begins to wait looks whether all others are at rest, and if so lets the next one go on, which may
be himself. Where threads are still at work that nobody will hear of when they block, a thread of ours looks
again in a little while.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from lctl.rerun.ordering import START
from lctl.rerun.pace import Pace
from lctl.rerun.parties import Alarm, Awaiting, Blocked, Held
from lctl.rerun.score import Score, Violation
from lctl.rerun.stage import Stage
from lctl.rerun.upcoming import AHEAD
from lctl.rerun.virtualtime import IdleLoop, VirtualTime, follows
from lctl.rerun.waiting import Key
from lctl.session import lanes, turns
from lctl.session.lanes import Lane

#: What a thread asks for: after it, what it hands to a loop is an answer (see `turns.crossing`).
_CALLS = frozenset({"exchange", "tool", "sleep"})
#: Deliveries in a row that a coroutine takes without giving its loop a turn.
_ROW = 50


class Conductor:
    """Releases deliveries in the order of `moments`.

    Args:
        moments: (milliseconds from the recording's origin, key), in order; or with a third: how many turns
            of its event loop it came after what reached that before (see `lctl.session.turns`); and a
            fourth: how many callbacks of that turn ran before it.
        realtime: wait as long as the recording did.

    Attributes:
        pace: the virtual clock.
    """

    def __init__(self, moments: Iterable[Any], *, realtime: bool = False) -> None:
        self.pace = Pace(realtime)
        self._score = Score(moments)
        self._marks = sorted({lane.partition(":")[0] + ":" for lane in self._score.lanes() if ":" in lane})
        self._stage = Stage(self._score, self.pace)
        self._door = self._stage.door
        self._clock = VirtualTime(self)
        self._handed: dict[tuple[int, int], Held] = {}  # the last by this thread, to this loop
        self._crossed: dict[int, str] = {}  # lane of a thread's job or last call, until it wakes a loop
        self._wakes: Counter[str] = Counter()
        self._suspended: dict[
            int, Any
        ] = {}  # places of coroutines that wait or have not gone on yet: their loop
        self._homes: dict[str, Any] = {}  # lane -> the event loop it was last seen in, None for a thread
        self._row = 0

    def install(self) -> None:
        """Event loops, `time.sleep` and timeouts of locks follow virtual time from here on."""
        self.pace.start()
        turns.on_job.append(self._begin_job)
        turns.on_submit.append(self._stage.upcoming.note_job)
        self._clock.install()

    def uninstall(self) -> None:
        self._clock.uninstall()
        turns.on_job.remove(self._begin_job)
        turns.on_submit.remove(self._stage.upcoming.note_job)
        self._stage.watch.stop()
        with self._stage.door.lock:  # it may be looking at them still, as may other threads
            self._stage.threads.close()

    def _begin_job(self, lane: Lane) -> None:
        if lane.index:
            self._crossed[threading.get_native_id()] = lane.path
        else:
            self._crossed.pop(threading.get_native_id(), None)

    @property
    def violations(self) -> list[Violation]:
        """What came out of order."""
        return self._stage.violations

    # -- waiting for a delivery ----------------------------------------------------------------

    def wait(self, key: Key) -> None:
        """Return when it is this delivery's turn."""
        loop = _running_loop()
        with self._door:
            # Pieces of a stream are of a call that has begun; a step that begins or ends is none.
            if loop is None and key[1] in _CALLS and key[3] in (START, 0):
                self._crossed[threading.get_native_id()] = key[0]
            place = self._score.place(key)
            if place is None:
                return
            self._settle(key[0], loop)
            if loop is not None:
                self._note(loop, place)
            elif place == self._score.head and not self._stage.waiting and self._stage.is_alone():
                self._stage.play(place)
                return
            party = self._stage.waiting[place] = Blocked(place, None)
            self._stage.block(party)
        self._wait_in(party)

    async def wait_async(self, key: Key) -> None:
        """As `wait`, in a coroutine of asyncio, uvloop or trio."""
        loop = _running_loop()
        with self._door:
            place = self._score.place(key)
            if place is None:
                return
            self._settle(key[0], loop)
            party: Blocked | None = None
            future: Any = None
            if loop is not None:
                head = place == self._score.head
                if head and (self._is_at_rest_but_here(loop, place) or self._is_next_piece(key, place, loop)):
                    self._stage.play(place)
                    self._note(loop, place)
                    return
                if self._goes_on(key, place, loop):  # once other threads are at rest; its own waits for that
                    self._note(loop, place)
                    party = self._stage.waiting[place] = Blocked(place, None)
                    self._stage.block(party)
            if party is None:
                future = _suspended() if loop is None else loop.create_future()
                self._stage.waiting[place] = Awaiting(place, loop, future)
                self._suspended[place] = loop
                if not follows(loop):
                    self._stage.watch.soon()
        if party is not None:
            self._wait_in(party)
            return
        await self._wait_for(place, future)

    async def resume_async(self, key: Key) -> None:
        """Before `wait`, in a task that in the recording gave others of its loop their turns: if they are to
        go on first, their thread must not stand here."""
        loop = _running_loop()
        if loop is None:
            return
        with self._door:
            place = self._score.place(key)
            if place is None or not self._is_behind_own(place, key[0], loop):
                return
            self._settle(key[0], loop)
            future = loop.create_future()
            self._stage.waiting[place] = Awaiting(place, loop, future)
            self._suspended[place] = loop
            if not follows(loop):
                self._stage.watch.soon()
        await self._wait_for(place, future)

    async def _wait_for(self, place: int, future: Any) -> None:
        try:
            await future
        finally:
            with self._door:
                self._suspended.pop(place, None)
                if self._stage.waiting.pop(place, None) is not None:  # cancelled
                    self._score.play(place)

    def never(self) -> None:
        """Wait for what will not come: until the process ends, or nothing else can happen in it.

        Raises:
            RerunStopped: nothing else can.
        """
        with self._door:
            party = Blocked(None, None)
            self._stage.never.append(party)
            self._stage.block(party)
        try:
            self._wait_in(party)
        finally:
            self._stage.never.remove(party)

    async def never_async(self, key: Key | None = None) -> None:
        """Wait until cancelled. Raises RerunStopped where nothing else can happen any more.

        Args:
            key: the recorded moment of the end. Of several calls cancelled at once each goes on in its turn:
                a set of tasks is cancelled in the order of their addresses.
        """
        loop = _running_loop()
        if loop is None:
            from lctl.rerun.triowaiting import Suspended

            await Suspended()
            return
        future = loop.create_future()
        self._stage.hanging[future] = loop
        try:
            await future
        except asyncio.CancelledError:
            if key is not None:
                await self.wait_async(key)
            raise
        finally:
            self._stage.hanging.pop(future, None)

    def sleep(self, seconds: float) -> None:
        """`time.sleep` on virtual time."""
        with self._door:
            until = self.pace.now + seconds * 1000
            alone = _running_loop() is None and not self._stage.waiting and self._stage.is_alone()
            if alone and not self._stage.is_outside():
                self.pace.move(until)
                return
            party = Blocked(None, until)
            self._stage.block(party)
        self._wait_in(party)

    # -- what will not come --------------------------------------------------------------------

    def forget(self, lane_path: str) -> None:
        """Nobody will ask for what is left of this lane."""
        with self._door:
            self._score.forget(lane_path, self._stage.waiting)
            self._stage.look_soon()

    def drop(self, key: Key) -> None:
        """Nobody will ask for this delivery."""
        with self._door:
            place = self._score.place(key)
            if place is not None and place not in self._stage.waiting:
                self._score.drop(place)
                self._stage.look_soon()

    def until(self, key: Key) -> float | None:
        """Milliseconds of virtual time until the recorded moment; None where it is over, or not known."""
        with self._door:
            place = self._score.place(key)
            return None if place is None else max(0.0, self._score.at(place) - self.pace.now)

    @contextmanager
    def live(self) -> Iterator[None]:
        """A real call is in flight: the clock goes at the pace of the world until it has ended."""
        self.live_begins()
        try:
            yield
        finally:
            self.live_ends()

    def live_begins(self) -> None:
        with self._door:
            self._stage.live += 1

    def live_ends(self) -> None:
        with self._door:
            self._stage.live -= 1

    # -- for virtual time ------------------------------------------------------------------------

    def idle(self, loop: IdleLoop) -> bool:
        """The loop of this thread has nothing to do. Whether it has now; else to be undone by `awake`."""
        with self._door:
            self._stage.loops[loop.tid] = loop
            self._stage.step()
            return loop.tid not in self._stage.loops

    def awake(self, loop: IdleLoop) -> None:
        """Its wait was ended, by the conductor or by something of the world."""
        with self._door:
            self._stage.loops.pop(loop.tid, None)

    def is_due(self, loop: IdleLoop, together: bool) -> bool:
        """See `Upcoming.is_due`; a look without the lock, for each turn of the loop."""
        return bool(self._stage.waiting) and self._stage.upcoming.is_due(loop, together)

    def follows_in_turn(self, loop: IdleLoop, surely: bool) -> int | None:
        """See `Upcoming.follows_in_turn`; likewise."""
        return self._stage.upcoming.follows_in_turn(loop, surely) if self._stage.waiting else None

    def ahead(self, place: int) -> int | None:
        """How many callbacks of its turn ran before what comes at `place`; None if unknown."""
        return self._score.ahead(place)

    def is_waited_for(self) -> bool:
        return bool(self._stage.waiting or self._stage.alarms)

    def is_stranger(self) -> bool:
        """Whether this thread is not the program's: real time is its."""
        return threading.get_native_id() in self._stage.threads.strangers

    def hold(self, loop: IdleLoop, job: Lane | None, make: Callable[[], Any]) -> Any:
        """What `make` makes is handed to a loop by this thread, and kept back if its turn is known; None
        if it is not. `job`: the one whose result it is, where that is known."""
        mine = threading.get_native_id()
        if job is None and (mine == loop.tid or lanes.current().tool is not None):
            return None  # what a tool's body hands over is not among the wakes
        with self._door:
            lane = self._crossed.pop(mine, None) if mine != loop.tid else None
            lane = lane if job is None else job.path
            place = None
            if lane is not None:
                self._wakes[lane] += 1
                place = self._wake(lane, self._wakes[lane])
            if place is None:
                before = self._handed.get((mine, id(loop)))
                handle = None if before is None else make()
                return handle if before is not None and before.follow(handle) else None
            handle = make()
            held = Held(place, loop.loop, loop.tid, handle)
            self._handed[mine, id(loop)] = self._stage.waiting[place] = held
            self._stage.watch.soon()
            return handle

    def _wake(self, lane: str, number: int) -> int | None:
        """Where a lane's `number`th wake stands. A job does not know whose it is of several sessions."""
        marks = self._marks if lane[:1] == "0" else ()
        places = (self._score.place((mark + lane, "wake", number, 0)) for mark in ("", *marks))
        return next((place for place in places if place is not None), None)

    def add(self, seconds: float, ring: Callable[[], None]) -> Alarm:
        """Have `ring` called when virtual time has gone on by `seconds`."""
        with self._door:
            alarm = Alarm(self.pace.now + seconds * 1000, ring)
            self._stage.alarms.append(alarm)
            self._stage.watch.soon()
            return alarm

    def remove(self, alarm: Alarm) -> None:
        with self._door:
            if alarm in self._stage.alarms:
                self._stage.alarms.remove(alarm)

    # -- inside ------------------------------------------------------------------------------------

    def _wait_in(self, party: Blocked) -> None:
        try:
            party.block()
        except BaseException:
            with self._door:
                self._stage.unblock(party)
            raise

    def _goes_on(self, key: Key, place: int, loop: Any) -> bool:
        """Whether the running task makes this call, the next of its loop, without giving that a turn: it did
        so in the recording, though other tasks were ready. Not while one that was let go on has yet to."""
        if key[3] != START or place - self._score.head > AHEAD:
            return False
        waiting = self._stage.waiting
        if not all(one in waiting for one, its in self._suspended.items() if its is loop):
            return False
        before = [one for one in range(self._score.head, place) if not self._score.is_over(one)]
        return all(
            (self._score.key(one)[0] == key[0] and one not in waiting) or self._is_elsewhere(one, loop)
            for one in before
        )

    def _is_behind_own(self, place: int, lane: str, loop: Any) -> bool:
        """Whether something of another lane of this loop comes first."""
        score = self._score
        before = (one for one in range(score.head, place) if not score.is_over(one))
        return any(score.key(one)[0] != lane and not self._is_elsewhere(one, loop) for one in before)

    def _settle(self, lane: str, loop: Any) -> None:
        """Note where a lane runs; and what it came of, if that was not heard of yet."""
        self._homes[lane] = loop
        above = lane.rpartition(".")[0]
        while "." in above and above not in self._homes:
            self._homes[above] = loop
            above = above.rpartition(".")[0]

    def _is_elsewhere(self, place: int, loop: Any) -> bool:
        """Whether a delivery is for a thread or for another loop, as far as is known."""
        party = self._stage.waiting.get(place)
        if party is not None:
            return isinstance(party, Blocked) or party.loop is not loop
        lane, kind, *_ = self._score.key(place)
        if kind == "wake":  # of a thread, and for the loop that handed the job in
            return self._stage.upcoming.is_job_of_another(lane, loop)
        while lane not in self._homes and "." in lane:
            lane = lane.rpartition(".")[0]
        return self._homes.get(lane, loop) is not loop

    def _is_at_rest_but_here(self, loop: Any, place: int) -> bool:
        """Whether the running task may go on with this delivery at once, as if its loop had come to rest."""
        self._row += 1
        at = self._score.at(place)
        return self._row % _ROW != 0 and self._clock.is_first(loop, at) and self._stage.is_alone()

    def _is_next_piece(self, key: Key, place: int, loop: Any) -> bool:
        """Whether a stream goes on with what the program got together with the piece before, in one turn."""
        last = self._stage.last
        follows = last is not None and last[:3] == key[:3] and self._score.turn(place) == 0
        return follows and self._clock.has_reached(loop) and not self.pace.realtime

    def _note(self, loop: Any, place: int) -> None:
        if self._score.turn(place) is not None:
            self._clock.reached(loop)


def _running_loop() -> Any:
    return asyncio._get_running_loop()


def _suspended() -> Any:
    """What a task waits on where no event loop of asyncio runs: it is trio's."""
    from lctl.rerun.triowaiting import Suspended

    return Suspended()
