"""What virtual time asks of a rerun: idle event loops, sleepers and timeouts say here what they wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lctl.rerun.order.parties import Alarm, Blocked, running_loop
from lctl.rerun.order.quiescence import number_of
from lctl.session.concurrency import collector, lanes

if TYPE_CHECKING:
    from lctl.rerun.order.handing import Handing
    from lctl.rerun.order.idleloop import IdleLoop
    from lctl.rerun.order.parties import Ending
    from lctl.rerun.order.score import Score
    from lctl.rerun.order.spots import Spot
    from lctl.rerun.order.stage import Stage
    from lctl.session.concurrency.lane import Lane


class Timekeeper:
    """That of one conductor.

    Attributes:
        pace: the virtual clock.
    """

    def __init__(self, stage: Stage, score: Score, handing: Handing) -> None:
        self.pace = stage.pace
        self._stage = stage
        self._score = score
        self._handing = handing
        self._door = stage.door

    def sleep(self, seconds: float) -> None:
        """`time.sleep` on virtual time. Who sleeps in a job had slept by the end of that: he may have begun
        before the recording, and nothing says how long ago."""
        with self._door:
            if self._stage.over:
                return
            now = self.pace.present()
            until, ended = now + seconds * 1000, self._handing.end_of_job(lanes.current())
            if ended is not None:
                until = min(until, max(ended, now))
            alone = running_loop() is None and not self._stage.waiting and self._stage.is_alone()
            if alone and not self._stage.is_outside():
                if self._stage.endless is not None:
                    self._stage.endless.is_here(until)
                self.pace.move(until)
                return
            party = Blocked(None, until)
            self._stage.block(party)
        self._stage.stand(party)

    def idle(self, loop: IdleLoop) -> bool:
        """The loop of this thread has nothing to do. Whether it has now; else to be undone by `awake`."""
        with self._door:
            if self._stage.over:
                return True
            self._stage.threads.came(loop.tid)
            self._stage.loops[loop.tid] = loop
            self._stage.step()
            return loop.tid not in self._stage.loops

    def awake(self, loop: IdleLoop) -> None:
        """Its wait was ended, by the conductor or by something of the world."""
        with self._door:
            self._stage.loops.pop(loop.tid, None)

    def is_due(self, loop: IdleLoop, together: bool) -> bool:
        """See `Upcoming.is_due`; a look without the lock, for each turn of the loop."""
        return self._is_expecting(loop) and self._stage.upcoming.is_due(loop, together)

    def is_asked_now(self, loop: IdleLoop, together: bool) -> bool:
        """See `Upcoming.is_asked_now`; likewise."""
        return self._stage.upcoming.is_asked_now(loop, together)

    def follows_in_turn(self, loop: IdleLoop, surely: bool) -> int | None:
        """See `Upcoming.follows_in_turn`; likewise."""
        return self._stage.upcoming.follows_in_turn(loop, surely) if self._is_expecting(loop) else None

    def is_to_come(self, loop: IdleLoop) -> bool:
        """See `Upcoming.is_to_come`; likewise."""
        return self._stage.upcoming.is_to_come(loop)

    def _is_expecting(self, loop: IdleLoop) -> bool:
        stage = self._stage
        if loop.is_asked or stage.waiting or stage.upcoming.jobs or stage.upcoming.is_asked_next():
            return True
        return bool(stage.door.arriving)  # somebody is about to say that he waits

    def is_asked(self, place: int) -> bool:
        """See `Upcoming.is_asked`."""
        return self._stage.upcoming.is_asked(place)

    def turn(self, place: int) -> int | None:
        """That of what comes at `place`, of its loop."""
        return self._score.turn(place)

    def spots(self, loop: IdleLoop, place: int) -> list[int]:
        """See `Upcoming.spots`."""
        return self._stage.upcoming.spots(loop, place)

    def index(self, loop: IdleLoop, place: int) -> int:
        """See `Upcoming.index`."""
        with self._door:
            return self._stage.upcoming.index(loop, place)

    def ending(self, loop: IdleLoop, place: int) -> Ending | None:
        """See `Upcoming.ending`."""
        with self._door:
            return self._stage.upcoming.ending(loop, place)

    def spot(self, place: int) -> Spot:
        """That of what comes at `place`, in its turn."""
        return self._score.spot(place)

    def is_waited_for(self) -> bool:
        return bool(self._stage.waiting or self._stage.alarms)

    def is_stranger(self) -> bool:
        """Whether this thread is not the program's, or not now: real time is its."""
        return collector.runs_here() or threading.get_native_id() in self._stage.threads.strangers

    def hold(self, loop: IdleLoop, job: Lane | None, make: Callable[[], Any]) -> Any:
        """What `make` makes is handed to a loop by this thread, and kept back if its turn is known; None
        if it is not. `job`: the one whose result it is, where that is known."""
        if job is None and (
            threading.get_native_id() == loop.tid or lanes.in_body(self._handing.lane_here())
        ):
            return None  # what a tool's body hands over is not among the wakes
        with self._door:
            return self._handing.hold(loop, job, make)

    def add(self, seconds: float, ring: Callable[[], None], used: float | None = None) -> Alarm:
        """Have `ring` called when virtual time has gone on by `seconds`. `used`: see `Alarm`."""
        with self._door:
            alarm = Alarm(self.pace.present() + seconds * 1000, ring, used)
            if self._stage.over:
                ring()
                return alarm
            self._stage.alarms.append(alarm)
            self._stage.watch.soon()
            return alarm

    def is_over(self) -> bool:
        """Whether nobody keeps to virtual time any more."""
        return self._stage.over

    def interrupt(self, act: Callable[[], None], send: Callable[[Callable[[], None]], None]) -> None:
        """With the door shut, have the main thread do `act`, if it waits here. Else have `send` interrupt it,
        in its own time; nobody goes on until it calls what it gets."""
        main = number_of(threading.main_thread())
        if main is not None and self._stage.interrupt(main, act):
            return
        arriving = self._door.arriving
        arriving.append(None)

        def done() -> None:
            arriving.pop()
            self._stage.watch.soon()

        send(done)

    def remove(self, alarm: Alarm) -> None:
        with self._door:
            if alarm in self._stage.alarms:
                self._stage.alarms.remove(alarm)
