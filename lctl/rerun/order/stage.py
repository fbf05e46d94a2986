"""Who goes on next of those who are there. All but `stand` is called with the door shut (`Stage.door`)."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

from lctl.clock import monotonic
from lctl.errors import RerunStopped
from lctl.rerun.clocks.pace import Pace
from lctl.rerun.order.assembly import Assembly
from lctl.rerun.order.computing import Computing
from lctl.rerun.order.endless import Endless
from lctl.rerun.order.farend import FarEnd
from lctl.rerun.order.idleloop import IdleLoop
from lctl.rerun.order.parties import Alarm, Awaiting, Blocked, Held, Queued, refuse
from lctl.rerun.order.score import Score, Violation
from lctl.rerun.order.sleeping import Sleeping
from lctl.rerun.order.standstill import BEAT, Standstill
from lctl.rerun.order.unasked import Unasked
from lctl.rerun.order.upcoming import Upcoming
from lctl.rerun.order.waiting import Key

#: Real seconds for which a delivery that nobody asked for is waited for: where threads are blocked in
#: locks, and where something outside the program may still bring it about.
_SURE = 0.003
_PATIENCE = 1.0
#: Real seconds after which a program that can never go on is told so.
_END = 0.5
#: Real seconds after which it is looked what became of who was let go on.
_LATER = 0.001
#: Milliseconds by which a timer may be late on virtual time, which leaves out what computing takes.
_SLACK = 20.0
_FOREVER = float("inf")

_monotonic = monotonic


class Stage(Assembly):
    """The parties of one rerun.

    Attributes:
        upcoming: what loops know of who waits for a delivery.
        hanging: futures of coroutines that wait for ever, with their loops; `never`: such threads.
        last: what was delivered last.
        over: the rerun has ended, and nobody waits (`lctl.rerun.order.leaving`).
    """

    def __init__(self, score: Score, pace: Pace) -> None:
        super().__init__(score, pace, self._look)
        self.never: list[Blocked] = []
        self.hanging: dict[Any, Any] = {}
        self.upcoming = Upcoming(score, self.waiting)
        self.violations: list[Violation] = []
        self.last: Key | None = None
        self.over = False
        #: Done once, where nothing can happen any more.
        self.standstill: Callable[[], None] | None = None
        #: Where nothing can happen any more, and nobody waits for what will not come.
        self.stillness: Standstill | None = None
        #: Where the recording was cut off.
        self.far_end: FarEnd | None = None
        #: Where it goes on by timers alone.
        self.endless: Endless | None = None
        #: Where the program is a server, and waits for who will not come.
        self.unasked: Unasked | None = None
        self._stalled: tuple[int, bool, float] | None = None
        self._ending: float | None = None
        self._computing = Computing(self.threads, self.watch)
        self._sleeping = Sleeping(score)
        self._look_ahead()

    def block(self, party: Blocked) -> None:
        self.threads.came(party.tid)
        self.blocked[party.tid] = party
        self.step()

    def stand(self, party: Blocked) -> None:
        """Wait here, with the door open, until it may go on."""
        try:
            party.block()
            while party.act is not None:
                party.act()
                with self.door:
                    party.act = None
                    self._block_again(party)
                if not party.released:
                    party.block()
        except BaseException:
            with self.door:
                self.unblock(party)
            raise
        if party.error is not None:
            raise party.error

    def _block_again(self, party: Blocked) -> None:
        """Behind what interrupted it, unless it may go on by now."""
        if party.released:
            return
        if self.over or (party.place is not None and self.score.is_over(party.place)):
            party.release()
            return
        if party.place is not None:
            self.waiting[party.place] = party
        self.block(party)

    def play(self, place: int) -> None:
        """The delivery is made."""
        self.pace.jump(self.score.at(place))
        key = self.score.key(place)
        if self.score.play(place) and self.last is not None:
            self.violations.append(Violation(key, self.last))
        self.last = key
        self._look_ahead()

    def _look_ahead(self) -> None:
        head = self.score.head
        self.pace.next = self.score.at(head) if head < self.score.length else 0.0

    # -- who goes on -------------------------------------------------------------------------------

    def step(self) -> None:
        """If all are at rest, let the next go on; else have it looked again."""
        if not (self.waiting or self.blocked or self.alarms or self.loops):
            return
        if self.at_rest():
            self._computing.end()
            self._release()
            if self.blocked or self.loops or self.alarms or self.threads.some(self.parked()):
                # Who goes on may end, or block elsewhere, and never come here again.
                self.watch.after(_LATER)
            return
        self._stalled = self._ending = None
        if self._is_slept():
            self._play_for(self.score.head)
            return
        for loop in self.loops.values():
            if loop.is_called():
                loop.wake()  # what the garbage collector made it do, while it went to rest, woke nobody
        if self._computing.is_ceaseless(self.gap()):
            self.threads.give_up()
        self._ring_computed()
        self.watch.soon()

    def _is_slept(self) -> bool:
        """Whether a sleep is over while others compute."""
        head = self.score.head
        if self.pace.realtime or self.is_called() or not isinstance(self.waiting.get(head), Blocked):
            return False
        timer = self.first_timer()
        if timer is not None and (timer.until or 0.0) <= self.score.at(head):
            return False
        return self._sleeping.is_over(head, self.pace.now)

    def _ring_computed(self) -> None:
        for alarm in list(self.alarms):
            if alarm.used is not None and process_time() > alarm.used:
                self._ring(alarm)

    def look_soon(self) -> None:
        """Have it looked whether the next can go on: this thread is not at rest, but goes on itself."""
        if self.waiting or self.blocked or self.alarms or self.loops:
            self.watch.soon()

    def _look(self) -> None:
        with self.door.lock:
            self.step()
            if self.stillness is not None:
                self.stillness.look()
                self.watch.after(BEAT)
            if self.unasked is not None:
                self.unasked.look()
                self.watch.after(BEAT)

    def is_going_on(self) -> bool:
        """Whether a delivery or a moment is waited for that comes."""
        return self.first_place() is not None or self.first_timer() is not None or self.is_called()

    def gap(self) -> float:
        """Recorded milliseconds from now to the next delivery."""
        head = self.score.head
        return max(0.0, self.score.at(head) - self.pace.now) if head < self.score.length else 0.0

    def _release(self) -> None:
        place, timer = self.first_place(), self.first_timer()
        if (place is None or place > self.score.head) and not self._sleeps_first(timer):
            paused = next((loop for loop in self.loops.values() if loop.is_paused), None)
            if paused is not None:
                if self.live or self._is_settled(_SURE):  # in vain: what it stands still for does not come
                    self.loops.pop(paused.tid)
                    paused.wake()
                return
        if place is None and timer is None:
            self._end()
            return
        if place is None and self.far_end is not None and self.far_end.comes_before(timer):
            return
        self._ending = None
        at = _FOREVER if place is None else self.score.at(place)
        if place is not None and place > self.score.head:
            at += _SLACK  # the one that is due before it may be asked for after the timer
        elif place is not None and isinstance(timer, IdleLoop) and isinstance(self.waiting[place], Awaiting):
            at -= self.pace.unsaid()  # a limit of its time counts from a moment that was too early
        if isinstance(timer, Queued) and (timer.until or 0.0) <= at:
            if self._is_settled():
                self._free(timer)
        elif timer is not None and (timer.until or 0.0) <= at:
            if self.endless is not None and self.endless.is_here(timer.until):
                return
            if self._is_time(timer.until or 0.0):
                self._ring(timer)
        elif place is not None and (not self.pace.realtime or self._is_time(at)):
            self._play_for(place)

    def _sleeps_first(self, timer: Blocked | IdleLoop | Alarm | None) -> bool:
        """Whether who sleeps goes on before the head of the score is due: it may be what asks for that."""
        head = self.score.head
        due = self.score.at(head) if head < self.score.length else 0.0
        return isinstance(timer, Blocked) and (timer.until or 0.0) <= due

    def _is_time(self, until: float) -> bool:
        """Whether the clock may say `until` now. It goes with the world while that is waited for."""
        outside = not self.pace.realtime and self.is_outside()
        if not (outside or self.pace.realtime or self.is_sure()):
            self.watch.soon()
            return False
        left = self.pace.left(until, outside)
        if left > 0:
            self.watch.after(left)
        return left <= 0

    def _play_for(self, place: int) -> None:
        """Let go on who waits for it, unless an earlier one may still be asked for."""
        if place > self.score.head:
            if not self._is_settled():
                return
            end = self.first_end()
            if end is not None:
                self._free_early(end)
                return
            queued = self.first_queued()
            if queued is not None:
                self._free(queued)
                return
            self.score.pass_over(place)
        party = self.waiting.pop(place)
        self.play(place)
        if isinstance(party, Blocked):
            self._free(party)
            return
        if isinstance(party, Held) and party.until > self.pace.now:
            self.pace.move(party.until)
        loop = self.loops.pop(party.tid, None)
        if loop is not None:
            loop.grant(party, self.score.turn(place) is not None)
        elif isinstance(party, Awaiting):
            party.wake()

    def _free_early(self, end: Blocked) -> None:
        assert end.place is not None
        del self.waiting[end.place]
        self.score.play(end.place)  # but it is not yet the time of it
        self._free(end)

    def _is_settled(self, patience: float = _PATIENCE) -> bool:
        """Nobody asked for the head of the score: whether that is certain by now. `patience`: real seconds,
        where something outside the program may still bring it about."""
        if self.live:
            return False
        now, head = _monotonic(), self.score.head
        outside = self.is_outside()
        if outside or self.threads.some(self.parked()):
            if self._stalled is None or self._stalled[:2] != (head, outside):
                self._stalled = head, outside, now  # who was outside may have come back just now
            enough = patience if outside else _SURE
            if now - self._stalled[2] < enough:
                self.watch.after(enough / 3)
                return False
        self._stalled = None
        return True

    def _ring(self, timer: Blocked | IdleLoop | Alarm) -> None:
        self.pace.move(timer.until or 0.0)
        if isinstance(timer, Blocked):
            self._free(timer)
        elif isinstance(timer, IdleLoop):
            self.loops.pop(timer.tid, None)
            timer.wake()
        else:
            self.alarms.remove(timer)
            timer.ring()

    def _free(self, party: Blocked) -> None:
        self.blocked.pop(party.tid, None)
        party.release()

    def _end(self) -> None:
        """Nothing can happen any more, but from outside."""
        if not (self.never or self.hanging or self.far_end):
            return
        now = _monotonic()
        if self._ending is None:
            self._ending = now
        if now - self._ending < _END or self.is_outside():
            self.watch.after(_END / 2)
            return
        if self.far_end is not None and self.far_end.is_here():
            return
        if not (self.never or self.hanging):
            return
        act, self.standstill = self.standstill, None
        if act is not None:
            self._ending = now
            self.watch.after(_END)  # the program may take no notice of it
            act()
            return
        stopped = RerunStopped(
            "the program waits for the answer to a call that had none in the recording, and for nothing else"
        )
        for party in self.never:
            if not party.released:
                party.error = stopped
                self._free(party)
        for future, loop in list(self.hanging.items()):
            loop.call_soon_threadsafe(refuse, future, stopped)
