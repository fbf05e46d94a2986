"""Who is there, who of them is at rest, and what each waits for. All with the door shut (`Assembly.door`)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lctl.clock import monotonic
from lctl.rerun.clocks.pace import Pace
from lctl.rerun.order.idleloop import IdleLoop, follows
from lctl.rerun.order.parties import Alarm, Asking, Awaiting, Blocked, Door, Ending, Held, Queued
from lctl.rerun.order.quiescence import Threads
from lctl.rerun.order.score import Score
from lctl.rerun.order.watching import Watch, has_children, shares

_FOREVER = float("inf")
#: Real seconds after which who was interrupted is taken to wait for others in what it does upon that.
_ACT = 2.0


class Assembly:
    """
    Attributes:
        blocked: threads that wait here, and `loops` that have nothing to do, by the system's number of their
            threads.
        waiting: who waits for a delivery, by its place in the score.
        alarms: of whom something rings.
        live: how many real calls are in flight.
    """

    def __init__(self, score: Score, pace: Pace, look: Callable[[], None]) -> None:
        """
        Args:
            look: is called by a thread of its own when it is to be looked who is at rest (`Watch`).
        """
        self.score = score
        self.pace = pace
        self.door = Door()
        self.blocked: dict[int, Blocked] = {}
        self.loops: dict[int, IdleLoop] = {}
        self.waiting: dict[int, Blocked | Awaiting | Held] = {}
        self.alarms: list[Alarm] = []
        self.live = 0
        self.threads = Threads()
        self.watch = Watch(look)
        self._acting: tuple[int, float] | None = None

    def unblock(self, party: Blocked) -> None:
        """It was interrupted by a signal."""
        if not party.released:
            self.blocked.pop(party.tid, None)
            if party.place is not None:
                self.waiting.pop(party.place, None)

    def interrupt(self, tid: int, act: Callable[[], None]) -> bool:
        """Have this thread, at rest here, do that where it waits, and wait on. Whether it is here."""
        party = self.blocked.pop(tid, None) or self.loops.pop(tid, None)
        if isinstance(party, Blocked) and party.place is not None:
            self.waiting.pop(party.place, None)
        if party is not None:
            self._acting = tid, monotonic() + _ACT
            party.interrupt(act)
        return party is not None

    def _is_acting(self) -> bool:
        """Whether who was interrupted has yet to come back, or to wait for something else here."""
        if self._acting is not None:
            tid, until = self._acting
            if tid in self.blocked or tid in self.loops or monotonic() > until:
                self._acting = None
        return self._acting is not None

    def is_alone(self) -> bool:
        """Whether nothing runs but this thread."""
        if self.blocked or self.loops or self.alarms or self.live or self.pace.realtime:
            return False
        return not self.threads.some((threading.get_native_id(), self.watch.tid))

    def at_rest(self) -> bool:
        if self.is_called():
            return False
        parked = self.parked()
        if self.threads.some(parked) and not self.threads.at_rest(parked, self.watch.tid):
            return False
        return not self.is_called()

    def is_called(self) -> bool:
        if self.door.arriving or self._is_acting():
            return True
        return any(loop.is_called() for loop in self.loops.values())

    def parked(self) -> set[int]:
        return {*self.blocked, *self.loops, self.watch.tid, threading.get_native_id()}

    def is_sure(self) -> bool:
        """Whether nobody is outside, while all rest: who came back since that was seen waits for the
        interpreter's lock by now, as if for another thread."""
        if not self.threads.some(self.parked()):
            return True
        used = self.threads.used(self.watch.tid)
        return self.at_rest() and not self.is_outside() and self.threads.used(self.watch.tid) == used

    def is_outside(self) -> bool:
        """Whether something of the world may come in its own time."""
        if self.live or any(loop.has_traffic() for loop in self.loops.values()) or has_children():
            return True
        parked = self.parked()
        return self.threads.some(parked) and self.threads.any_outside(parked, not shares())

    def first_place(self) -> int | None:
        """The earliest delivery that somebody waits for who can hear."""
        return min((place for place, party in self.waiting.items() if self.can_hear(party)), default=None)

    def can_hear(self, party: Blocked | Awaiting | Held) -> bool:
        """Not so a coroutine whose loop's thread is blocked in a call that another one made."""
        if isinstance(party, Asking):
            return any(loop.has_files() and not loop.polls for loop in self.loops.values())
        if isinstance(party, Blocked):
            return True
        if isinstance(party, Ending) and not party.is_over():
            loop = self.loops.get(party.tid)  # else it may be cancelled yet
            return loop is not None and loop.loop is party.loop and loop.is_paused
        if follows(party.loop):
            return party.tid in self.loops
        return party.tid not in self.blocked

    def first_timer(self) -> Blocked | IdleLoop | Alarm | None:
        first: Blocked | IdleLoop | Alarm | None = None
        soonest = _FOREVER
        for group in (self.blocked.values(), self.loops.values(), self.alarms):
            for party in group:
                until = party.until
                if until is not None and until < soonest:
                    first, soonest = party, until
        return first

    def first_end(self) -> Blocked | None:
        """Who waits for the turn of the earliest end of a job. That delivers nothing: where this thread is
        what a pool lacks for what is due, or who asks for that waits for it, it goes on before its turn."""
        waiting = sorted(self.waiting.items())
        ends = (party for place, party in waiting if self.score.is_end(place) and isinstance(party, Blocked))
        return next(ends, None)

    def first_queued(self) -> Queued | None:
        queued = (party for party in self.blocked.values() if isinstance(party, Queued))
        return min(queued, key=lambda party: party.until or 0.0, default=None)
