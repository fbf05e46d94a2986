"""Virtual time, and when it goes with the world's."""

from __future__ import annotations

from itertools import count
from time import monotonic

#: What each reading of the clock adds, in ms: who reads it until it has moved comes to an end.
TICK = 0.001

_monotonic = monotonic


class Pace:
    """The virtual clock of one rerun.

    Attributes:
        now: virtual milliseconds from the recording's origin.
        ticks: counts how often the clock has been read since `now` was set.
        realtime: it goes as the recording's did.
    """

    def __init__(self, realtime: bool) -> None:
        self.realtime = realtime
        self.now = 0.0
        self.ticks = count().__next__
        self._started = _monotonic()
        self._real: float | None = None  # when it began to go with the world

    def start(self) -> None:
        self._started = _monotonic()

    def read(self) -> float:
        return self.now + self.ticks() * TICK

    def move(self, now: float) -> None:
        """Let it be `now`; never earlier than anybody has read."""
        read, self.ticks = self.ticks() * TICK, count().__next__
        self.now = max(now, self.now + read)

    def jump(self, now: float) -> None:
        """As `move`, and no longer with the world."""
        self.move(now)
        self._real = None

    def left(self, until: float, with_world: bool) -> float:
        """Real seconds to wait before it may be `until`; none, unless it goes with the world."""
        if self.realtime:
            self.now = (_monotonic() - self._started) * 1000
        elif with_world:
            real = _monotonic()
            if self._real is not None:
                self.now += (real - self._real) * 1000
            self._real = real
        else:
            self._real = None
            return 0.0
        return max(0.0, until - self.now) / 1000
