"""What is to come of the recording, as far as it can be known, and what the conductor is told of that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lctl.rerun.order.endless import Endless
from lctl.rerun.order.farend import FarEnd
from lctl.rerun.order.queueing import Line
from lctl.rerun.order.standstill import BEAT, Standstill
from lctl.rerun.order.unasked import Unasked

if TYPE_CHECKING:
    from lctl.rerun.clocks.pace import Pace
    from lctl.rerun.clocks.timekeeper import Timekeeper
    from lctl.rerun.order.livelanes import LiveLanes
    from lctl.rerun.order.parties import Door
    from lctl.rerun.order.score import Score
    from lctl.rerun.order.stage import Stage
    from lctl.rerun.order.waiting import Key
    from lctl.session.concurrency.queueorder import Act


class Prospects:
    """Mixed into the conductor."""

    if TYPE_CHECKING:
        pace: Pace
        _keeper: Timekeeper
        _door: Door
        _score: Score
        _stage: Stage

    def progress(self) -> int:
        """How many of the deliveries in their order are over."""
        return self._score.head

    def is_spent(self) -> bool:
        """Whether all deliveries are over."""
        return self._score.head == self._score.length

    def gap(self) -> float:
        """Recorded seconds to the next delivery."""
        return self._stage.gap() / 1000

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

    def line(self, acts: Sequence[Act], mark: str, live: LiveLanes, since: float | None) -> Line:
        """See `Line`."""
        return Line(self._stage, acts, mark, live, since)

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

    # -- where nothing comes any more --------------------------------------------------------------

    def at_standstill(self, act: Callable[[], None]) -> None:
        """Do that once where the program waits for what will not come, and for nothing else."""
        self._stage.standstill = act

    def at_stillness(self, act: Callable[[list[str]], None]) -> None:
        """Do that once, with the places where the program waits, where nothing can happen any more."""
        with self._door:
            self._stage.stillness = Standstill(self._stage, act)
            self._stage.watch.after(BEAT)

    def interrupt(self, act: Callable[[], None], send: Callable[[Callable[[], None]], None]) -> None:
        """See `Timekeeper.interrupt`."""
        with self._door:
            self._keeper.interrupt(act, send)

    def at_far_end(self, at: float, is_whole: Callable[[], bool], act: Callable[[], None]) -> None:
        """Do that once where the program goes on by itself behind `at`, in milliseconds of virtual time, with
        nothing left of its recording (`FarEnd`)."""
        with self._door:
            self._stage.far_end = FarEnd(self._stage, at, is_whole, act)

    def at_endless(self, at: float, act: Callable[[], None]) -> None:
        """Do that once where the program goes on by timers alone, long behind `at` (`Endless`)."""
        with self._door:
            self._stage.endless = Endless(self._stage, at, act)

    def at_unasked(self, act: Callable[[list[str]], bool]) -> None:
        """Do that, with the places where the program listens, where it is a server and nobody comes; once if
        it says that it is so."""
        with self._door:
            self._stage.unasked = Unasked(self._stage, act)
            self._stage.watch.after(BEAT)
