"""When the program goes on: its sleeps, reads that take their time, and what threads report, each in the
turn it was recorded in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.rerun.order.moments import END, RESUMED
from lctl.rerun.order.resumption import Resumptions
from lctl.rerun.tape.crossings import TIMER
from lctl.session.concurrency import lanes, queueorder
from lctl.session.concurrency.pooljobs import SOURCE, Ended

if TYPE_CHECKING:
    from lctl.rerun.order.livelanes import LiveLanes
    from lctl.rerun.order.waiting import Order
    from lctl.rerun.tape.entries import Entry
    from lctl.rerun.tape.tape import Tape
    from lctl.session.concurrency.lane import Lane


class Turns:
    """Of one tape: holds who comes before their turn. See `lctl.session.border.Player` for what each means.

    A lane that has left the tape is held nowhere.

    Attributes:
        until: the event at which this run is forked: what is done with queues behind it is held to nothing.
    """

    def __init__(self, tape: Tape, order: Order, live: LiveLanes, *, is_fork: bool) -> None:
        self._tape = tape
        self.until: int | None = None
        self._is_fork = is_fork
        self._order = order
        self._live = live
        self._resumptions = Resumptions(tape)

    def event(self, lane: Lane, number: int) -> None:
        row = self._tape.lanes.get((lane.path, "event"), ())
        if number <= len(row) and lane not in self._live:
            self._order.wait((self._tape.mark + lane.path, "event", number, 0))

    def sleep(self, lane: Lane, number: int) -> bool:
        entry = self._slept(lane, number)
        if entry is not None:
            if entry.cancelled:
                self._order.never()
            self._order.wait((self._tape.mark + entry.lane, "sleep", entry.number, 0))
        return entry is not None

    async def sleep_async(self, lane: Lane, number: int) -> bool:
        entry = self._slept(lane, number)
        if entry is not None:
            await self._wait_async(entry)
        return entry is not None

    def sleeps(self, lane: Lane) -> int:
        """How many were recorded in that lane."""
        return len(self._tape.lanes.get((lane.path, "sleep"), ()))

    def timer(self, lane: Lane, number: int, handle: Any) -> bool | None:
        timers = self._tape.timers
        if lane in self._live or timers is None:
            return None
        if (lane.path, number) not in timers:
            return None if self._is_fork else False
        return self._order.hold((self._tape.mark + lane.path, TIMER, number, 0), handle) or None

    def come(self, entry: Entry) -> None:
        """Return when what a command gave was whole."""
        self._order.wait((self._tape.mark + entry.lane, entry.kind, entry.number, 0))

    async def come_async(self, entry: Entry, part: int = 0) -> None:
        """As `come`, or when that part of it had come, of which the first is 1."""
        await self._order.wait_async((self._tape.mark + entry.lane, entry.kind, entry.number, part))

    async def read_async(self, source: str, lane: Lane, number: int) -> None:
        row = self._tape.lanes.get((lane.path, source), ())
        if number <= len(row):
            await self._wait_async(row[number - 1])

    def resumed(self, lane: str, seq: int, sure: bool) -> float | None:
        """Arguments as of `Resumptions.find`."""
        here = lanes.current()
        found = None if here in self._live else self._resumptions.take(lane, seq, sure)
        if found is None:
            return None
        entry, at = found
        self._order.wait((self._tape.mark + entry.lane, entry.kind, entry.number, RESUMED))
        return at

    async def resumes_async(self, lane: str, seq: int, sure: bool) -> None:
        here = lanes.current()
        found = None if here in self._live else self._resumptions.find(lane, seq, sure)
        if found is not None:
            entry, _ = found
            key = (self._tape.mark + entry.lane, entry.kind, entry.number, RESUMED)
            await self._order.resume_async(key)

    def ended(self, lane: Lane) -> Ended | None:
        row = self._tape.lanes.get((lane.path, SOURCE))
        if not row:
            return None
        entry = row[0]
        self._order.wait((self._tape.mark + entry.lane, entry.kind, entry.number, 0))
        return Ended(entry.lane, entry.at or 0.0, entry.seq)

    def queue(self, lane: Lane, number: int) -> queueorder.Turns | None:
        return self.queue_of(lane.path, number)

    def queue_of(self, lane: str, number: int) -> queueorder.Turns | None:
        acts = self._tape.queues.get((lane, number))
        if not acts:
            return None
        since = None
        if self.until is not None:
            since = next((act.ms for act in acts if act.seq >= self.until), None)
            acts = [act for act in acts if act.seq < self.until]
        return self._order.line(acts, self._tape.mark, self._live, since)

    def _slept(self, lane: Lane, number: int) -> Entry | None:
        row = self._tape.lanes.get((lane.path, "sleep"), ())
        if number > len(row) or lane in self._live:
            return None
        entry = row[number - 1]
        entry.used = True
        if entry.counted:
            self._order.count()
        return entry

    async def _wait_async(self, entry: Entry) -> None:
        key = (self._tape.mark + entry.lane, entry.kind, entry.number)
        if entry.cancelled:
            await self._order.never_async((*key, END))
        await self._order.wait_async((*key, 0))
