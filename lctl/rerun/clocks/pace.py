"""Virtual time, and when it goes with the world's.

It stands still while the program runs: nobody may see how long a rerun takes. But what the program computes
it computes again, and took its time in the recording: a limit of time that begins behind a long computation
(the loading of a model, a library) must not end with it. So the clock goes on while much is computed, up to
the next moment that is known.
"""

from __future__ import annotations

from itertools import count
from time import process_time

from lctl.clock import monotonic

#: What each reading of the clock adds, in ms: who reads it until it has moved comes to an end.
TICK = 0.001

#: Seconds of processor time from which on it goes with what is computed; below, reruns are all alike.
_MUCH = 0.05

#: Milliseconds that pass and take no processor time, between what is known.
_EARLY = 5.0

#: Real milliseconds of one moment from which on it has gone on for who may wait for the world; and where what
#: is next is due already.
_LONG, _VERY_LONG = 250.0, 2_000.0

_monotonic, _used = monotonic, process_time


class Pace:
    """The virtual clock of one rerun.

    Attributes:
        now: virtual milliseconds from the recording's origin.
        ticks: counts how often the clock has been read since `now` was set.
        next: the next moment that is known; computing leads to no later one.
        realtime: it goes as the recording's did.
    """

    def __init__(self, realtime: bool) -> None:
        self.realtime = realtime
        self.now = 0.0
        self.ticks = count().__next__
        self.next = 0.0
        self._computing = _used()  # what the process had used when `now` was set
        self._computed = 0.0  # since then, as anybody has been told
        self._started = self._moved = _monotonic()
        self._before: float | None = None
        self._real: float | None = None  # when it began to go with the world

    def start(self) -> None:
        self._started = self._moved = _monotonic()

    def read(self) -> float:
        return self.present() + self.ticks() * TICK

    def reach_origin(self) -> None:
        """The program's first session has begun."""
        if self._before is None:
            self.move(0.0)
            self._before = (_monotonic() - self._started) * 1000

    def before(self) -> float:
        """Real milliseconds from the start to the origin: of these nothing is recorded."""
        return (_monotonic() - self._started) * 1000 if self._before is None else self._before

    def read_waiting(self) -> float:
        """As `read`, for who may wait for what is real (a socket, another process): behind the origin it goes
        on with the world to the next moment that is known."""
        if self._before is None:
            return 0.0
        read, waited = self.read(), (_monotonic() - self._moved) * 1000
        left = self.next - self.now if self.next else waited
        if waited <= (_LONG if left > 0 else _VERY_LONG):
            return read
        return max(read, self.now + (min(waited, left) if left > 0 else waited))

    def present(self) -> float:
        """`now`, and what has been computed since, if that is much. Of what is computed before the origin no
        recorded time knows."""
        if self._before is None:
            return self.now
        used = _used() - self._computing
        if used > _MUCH and not self.realtime:
            self._computed = max(self._computed, min(used * 1000, self.next - self.now))
        return self.now + self._computed

    def unsaid(self) -> float:
        """Milliseconds by which a limit may count from too early a moment: it began after something had been
        computed, of which the clock says nothing yet."""
        return _EARLY + min(_used() - self._computing, _MUCH) * 1000

    def move(self, now: float) -> None:
        """Let it be `now`; never earlier than anybody has read."""
        read, self.ticks = self._computed + self.ticks() * TICK, count().__next__
        self.now = max(now, self.now + read)
        self._computing, self._computed = _used(), 0.0
        self._moved = _monotonic()

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
                self._computing = _used()
            self._real = real
        else:
            self._real = None
            return 0.0
        return max(0.0, until - self.now) / 1000
