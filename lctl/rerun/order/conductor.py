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

from _thread import get_ident
from collections.abc import Collection, Iterable
from typing import Any

from lctl.clock import sleep
from lctl.rerun.clocks.pace import TICK, Pace
from lctl.rerun.clocks.timekeeper import Timekeeper
from lctl.rerun.clocks.virtualtime import VirtualTime
from lctl.rerun.order.cancelling import Cancelling
from lctl.rerun.order.handing import Handing
from lctl.rerun.order.homes import Homes
from lctl.rerun.order.idleloop import follows, idle_of
from lctl.rerun.order.leaving import let_go, never
from lctl.rerun.order.moments import RESUMED
from lctl.rerun.order.parties import Asking, Awaiting, Blocked, Held, running_loop
from lctl.rerun.order.prospects import Prospects
from lctl.rerun.order.score import Score, Violation
from lctl.rerun.order.stage import Stage
from lctl.rerun.order.waiting import Key
from lctl.session.concurrency import collector, processes, turns

#: Deliveries in a row that a coroutine takes without giving its loop a turn.
_ROW = 50


class Conductor(Cancelling, Prospects):
    """Releases deliveries in the order of `moments`.

    Args:
        moments: (milliseconds from the recording's origin, key), in order; or with a third: how many turns
            of its event loop it came after what reached that before (`lctl.session.concurrency.turns`); and a
            fourth: how many callbacks of that turn ran before it.
        realtime: wait as long as the recording did.
        counted: lanes of pool jobs from whose handing in on turns are counted.
        wall, living: see `VirtualTime`.

    Attributes:
        pace: the virtual clock.
    """

    def __init__(
        self,
        moments: Iterable[Any],
        *,
        realtime: bool = False,
        counted: Collection[str] = (),
        wall: float | None = None,
        living: float | None = None,
    ) -> None:
        self.pace = Pace(realtime)
        self._score = Score(moments)
        self._stage = Stage(self._score, self.pace)
        self._stage.upcoming.counted = counted
        self._door = self._stage.door
        self._handing = Handing(self._stage)
        self._keeper = Timekeeper(self._stage, self._score, self._handing)
        self._clock = VirtualTime(self._keeper, wall, living)
        self._homes = Homes(self._stage)
        self._row = 0
        self._near: set[int] = set()  # the threads for which nobody else goes on

    def install(self) -> None:
        """Event loops, `time.sleep` and timeouts of locks follow virtual time from here on."""
        self.pace.start()
        turns.on_job.append(self._handing.begin_job)
        turns.on_apart.append(self._handing.begin_apart)
        turns.on_submit.append(self._stage.upcoming.note_job)
        turns.on_arrival.append(self.count)
        collector.watch(self)
        self._clock.install()
        processes.renewals.append(self._door.renew)

    def uninstall(self) -> None:
        processes.renewals.remove(self._door.renew)
        self._clock.uninstall()
        collector.unwatch(self)
        turns.on_job.remove(self._handing.begin_job)
        turns.on_apart.remove(self._handing.begin_apart)
        turns.on_submit.remove(self._stage.upcoming.note_job)
        turns.on_arrival.remove(self.count)
        self._stage.watch.stop()
        with self._stage.door.lock:  # it may be looking at them still, as may other threads
            self._stage.threads.close()

    def let_go(self) -> None:
        """Behind `uninstall`, where the program goes on: nobody waits here any more."""
        let_go(self._stage)

    @property
    def violations(self) -> list[Violation]:
        """What came out of order."""
        return self._stage.violations

    # -- waiting for a delivery ----------------------------------------------------------------

    def wait(self, key: Key) -> None:
        """Return when it is this delivery's turn."""
        if self._plays_at_once(key):
            return
        loop = running_loop()
        with self._door:
            if loop is None:
                self._handing.begin(key)
            place = self._score.place(key)
            if place is None:
                return
            self._homes.settle(key[0], loop)
            if loop is not None and key[3] == RESUMED and self._homes.keeps_own(place, loop):
                self._score.play(place)
                return
            if loop is not None:
                self._note(loop, place)
            elif place == self._score.head and not self._stage.waiting and self._stage.is_alone():
                self._stage.play(place)
                return
            asks = self._stage.upcoming.is_asked_of_loop(place)
            party = self._stage.waiting[place] = (Asking if asks else Blocked)(place, None)
            if (me := get_ident()) in self._near:
                self._near.discard(me)
                self._door.arriving.pop()
            self._stage.block(party)
        self._stage.stand(party)

    async def wait_async(self, key: Key, lasting: bool = False) -> None:
        """As `wait`, in a coroutine of asyncio, uvloop or trio. `lasting`: if that is cancelled, it will be
        waited for again."""
        if self._plays_at_once(key):
            return
        loop = running_loop()
        with self._door:
            place = self._score.place(key)
            if place is None:
                return
            self._homes.settle(key[0], loop)
            party: Blocked | None = None
            future: Any = None
            if loop is not None:
                is_there = self._score.turn(place) == turns.AT_ONCE and self._is_there(loop)
                if is_there and not self._homes.follows_threads(place, loop):
                    self._score.play(place)  # whatever is due in its loop: the program had it when it asked
                    self._stage.last = key
                    return
                head = place == self._score.head
                if head and (self._is_at_rest_but_here(loop, place) or self._is_next_piece(key, place, loop)):
                    self._stage.play(place)
                    self._note(loop, place)
                    return
                # Once other threads are at rest; its own waits for that.
                if is_there or self._homes.goes_on(key, place, loop):
                    if not is_there:
                        self._note(loop, place)
                    party = self._stage.waiting[place] = Blocked(place, None)
                    self._stage.block(party)
            if party is None:
                future = _suspended() if loop is None else loop.create_future()
                self._stage.waiting[place] = Awaiting(place, loop, future)
                self._homes.suspended[place] = loop
                if not follows(loop):
                    self._stage.watch.soon()
        if party is not None:
            self._stage.stand(party)
            return
        await self._wait_for(place, future, lasting)

    async def resume_async(self, key: Key) -> None:
        """Before `wait`, in a task that in the recording gave others of its loop their turns: if they are to
        go on first, their thread must not stand here."""
        loop = running_loop()
        if loop is None or collector.runs_here():
            return
        with self._door:
            place = self._score.place(key)
            if place is None or not self._homes.is_behind_own(place, key[0], loop):
                return
            self._homes.settle(key[0], loop)
            future = loop.create_future()
            self._stage.waiting[place] = Awaiting(place, loop, future)
            self._homes.suspended[place] = loop
            if not follows(loop):
                self._stage.watch.soon()
        await self._wait_for(place, future)

    async def _wait_for(self, place: int, future: Any, lasting: bool = False) -> None:
        try:
            await self._answered(place, future)
        finally:
            with self._door:
                self._homes.suspended.pop(place, None)
                if self._stage.waiting.pop(place, None) is not None and not lasting:  # cancelled
                    self._score.play(place)

    def count(self) -> None:
        """What happens in the loop of this thread is what its turns are counted from."""
        loop = running_loop()
        if loop is not None:
            self._clock.reached(loop)

    def ask(self, client: int, is_there: bool) -> None:
        """Somebody outside is about to ask a server, from that port; or (`is_there`) has asked. Loops that
        stand still for that go on."""
        with self._door:
            for loop in list(self._stage.loops.values()):
                if not is_there:
                    loop.is_asked = loop.serves(client)
                elif loop.awaits_asked:
                    self._stage.loops.pop(loop.tid)
                    loop.wake()

    def reach(self, reading: float) -> None:
        """Let the loop of this thread have that time, as soon as its clock is read."""
        loop = running_loop()
        if idle_of(loop) is None or self.pace.realtime:
            sleep(max(0.0, reading - loop.time()))
            return
        with self._door:
            self.pace.move(self._clock.moment(reading) + TICK)

    def hold(self, key: Key, handle: Any) -> bool:
        """Have a timer of the loop of this thread go off when it did. Whether it will."""
        loop = running_loop()
        idle = idle_of(loop)
        with self._door:
            place = self._score.place(key)
            if place is None or idle is None or place in self._stage.waiting:
                return False
            self._homes.settle(key[0], loop)
            until = self._clock.moment(handle.when())
            self._stage.waiting[place] = Held(place, loop, idle.tid, handle, until)
            self._stage.watch.soon()
            return True

    def never(self) -> None:
        """Wait for what will not come: until the process ends, or nothing else can happen in it.

        Raises:
            RerunStopped: nothing else can.
        """
        with self._door:
            if self._stage.over:
                raise never()
            party = Blocked(None, None)
            self._stage.never.append(party)
            self._stage.block(party)
        try:
            self._stage.stand(party)
        finally:
            self._stage.never.remove(party)

    def approach(self, begins: bool) -> None:
        """This thread of ours is about to wait for a delivery, or does something upon one: until it waits for
        the next, or says that it does not, nobody else goes on."""
        me = get_ident()
        if begins and me not in self._near:
            self._near.add(me)
            self._door.arriving.append(None)
        elif not begins and me in self._near:
            self._near.discard(me)
            self._door.arriving.pop()
            with self._door:
                self._stage.look_soon()

    # -- inside ------------------------------------------------------------------------------------

    def _plays_at_once(self, key: Key) -> bool:
        """What the collector calls waits for no turn. Whether it does so here; then the delivery is made."""
        if not collector.runs_here():
            return False
        self.drop(key)
        return True

    def _is_at_rest_but_here(self, loop: Any, place: int) -> bool:
        """Whether the running task may go on with this delivery at once, as if its loop had come to rest.
        Not with others that come in the same turn: what it does then is a turn before what they do."""
        self._row += 1
        at = self._score.at(place)
        is_alone = self._clock.is_first(loop, at) and self._stage.is_alone()
        return self._row % _ROW != 0 and is_alone and not self._score.is_joined(place)

    def _is_there(self, loop: Any) -> bool:
        """Whether the turns of a loop are those of the recording, in which nobody waited for it."""
        return follows(loop) and not self.pace.realtime

    def _is_next_piece(self, key: Key, place: int, loop: Any) -> bool:
        """Whether a stream goes on with what the program got together with the piece before, in one turn."""
        last = self._stage.last
        follows = last is not None and last[:3] == key[:3] and self._score.turn(place) == 0
        return follows and self._clock.has_reached(loop) and not self.pace.realtime

    def _note(self, loop: Any, place: int) -> None:
        if self._score.turn(place) is not None:
            self._clock.reached(loop)


def _suspended() -> Any:
    """What a task waits on where no event loop of asyncio runs: it is trio's."""
    from lctl.rerun.clocks.triowaiting import Suspended

    return Suspended()
