"""One run, opened: its log, its states, its columns, and what was worked out of it once.

A run that is being recorded grows: `refresh` takes in what was added, and keeps what was read. Safe to use
from several threads.
"""

from __future__ import annotations

import os
import threading
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from lctl.analysis.agentflow import AgentFlow
from lctl.analysis.prices import Prices
from lctl.analysis.run import is_live
from lctl.chain import Chain
from lctl.codec import Log, open_log
from lctl.debugger.building import EVERY, LONGEST, Building, What, longest_steps
from lctl.debugger.columns import Columns
from lctl.debugger.costing import Costing
from lctl.debugger.depths import Begun, Depths
from lctl.debugger.failing import Refused
from lctl.debugger.kept import Kept
from lctl.debugger.pricing import NO_PRICES
from lctl.debugger.readers import Readers
from lctl.errors import LogError
from lctl.events import Event
from lctl.state.timeline import Timeline
from lctl.state.times import millis

Value = TypeVar("Value")

#: Events of a log beyond which it is a long one: its states have fewer keyframes and are on disk.
LONG = 200_000
_PAUSE = 0.05  # seconds between two looks at the file
#: A request waits so long for columns that are being read.
_PATIENCE = 0.15


class Opened:
    """A run as it is now.

    Attributes:
        key: what requests call it.
        version: changes whenever the log does; 0 of one that never has.
        generation: changes when another log takes its place.
    """

    def __init__(
        self, key: str, path: Path, prices: Prices, log: Log | None = None, *, helped: bool = True
    ) -> None:
        """`log`: the run as it was opened elsewhere, which stays as it is. `helped`: a long one is read by
        a process of its own."""
        self.key = key
        self.path = path
        self._prices = prices
        self.version = 0
        self.generation = 0
        self._lock = threading.RLock()
        self._readers = Readers(self, self._lock)
        self._kept = Kept(self._lock)
        self._looked = 0.0
        self._fixed = log is not None
        self._helped = helped and log is None
        self.building: Building | None = None
        self._begin(self._open() if log is None else log)

    # -- the file ----------------------------------------------------------------------------

    def _open(self) -> Log:
        self._stamp = self._stamped()
        return open_log(self.path)

    def _stamped(self) -> tuple[object, int, object] | None:
        """What tells whether the log has changed: which it is, how long, and its last change."""
        return _stamp(self.path)

    @property
    def place(self) -> str:
        """What commands call it."""
        return str(self.path)

    @property
    def size(self) -> int:
        """Bytes of its events; 0 where that is not known."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @property
    def is_gone(self) -> bool:
        return not self.path.exists()

    def _begin(self, log: Log) -> None:
        self.log = log
        long = len(log) > LONG
        self.timeline = Timeline(log, every=EVERY if long else 64, shelved=long)
        self.columns = Columns(log)
        self.origin = _origin(log)
        self._depths = Depths()
        self._flow: AgentFlow | None = None
        self._longest: array[int] | None = None
        self._readers.forget()
        if self.building is not None:
            self.building.stop()
            self.building = None
        if long and self._helped and log.buffer() is not None:
            generation = self.generation
            self.building = Building(self.path, lambda what, piece: self._take(generation, what, piece))
        self.costing = Costing(self.path) if long and self._helped else None

    def _take(self, generation: int, what: What, piece: Any) -> None:
        """A piece of what another process reads."""
        with self._lock:
            building = self.building
            if generation != self.generation or building is None:
                return
            if what == "columns":
                self.columns.take(piece)
            elif what == "flow":
                self._flow = AgentFlow.unpacked(piece)
            elif what == "longest":
                self._longest = array("q", piece)
            elif what == "states":
                timeline = Timeline(self.log, every=EVERY, shelved=building.shelves)
                timeline.take_up(piece)
                timeline.grow(self.log)
                self.timeline = timeline
                building.tidy()

    def refresh(self) -> Opened:
        """Take in what was added to the file since the last look."""
        now = time.monotonic()
        if self._fixed or now - self._looked < _PAUSE:
            return self
        with self._lock:
            self._looked = now
            stamp = self._stamped()
            if stamp == self._stamp:
                return self
            same_file = stamp is not None and self._stamp is not None and stamp[0] == self._stamp[0]
            try:
                log = self._open()
            except LogError:
                return self  # gone or being replaced: what was read is still there to see
            self.version += 1
            self._kept.clear()
            if same_file and self._continues(log):
                self.log = log
                self.timeline.grow(log)
                with self._readers.reading:
                    self.columns.grow(log)
            else:
                self.generation += 1
                self._begin(log)
            if self.origin is None:
                self.origin = _origin(log)
            return self

    def _continues(self, log: Log) -> bool:
        """The new log begins with what the old one had."""
        old = self.log
        if (old.first_seq, old.chain, old.form) != (log.first_seq, log.chain, log.form):
            return False
        if log.last_seq < old.last_seq or not len(old):
            return not len(old)
        last = old.last_seq
        return list(old.lines(last, last + 1)) == list(log.lines(last, last + 1))

    @property
    def prices(self) -> Prices:
        """Those of the server; while a long log is being read, none are waited for."""
        if self.is_being_built and not getattr(self._prices, "ready", True):
            return NO_PRICES
        return self._prices

    @property
    def is_long(self) -> bool:
        """So long that nothing should go through all of it while somebody waits."""
        return len(self.log) > LONG

    @property
    def live(self) -> bool:
        """A program is writing it."""
        return not self._fixed and self.log.open and is_live(self.path)

    # -- what is read in passing -------------------------------------------------------------

    @property
    def is_being_built(self) -> bool:
        """Its states are being read elsewhere, and are not to be waited for."""
        return self.building is not None and not self.building.states.is_set()

    @property
    def progress(self) -> float:
        """How much of it has been read, 0 to 1; the columns are about a fifth of the work."""
        if self.is_being_built and self.building is not None:
            return min(0.99, 0.2 * self.columns.progress + 0.8 * self.building.progress)
        return self.columns.progress

    def columns_now(self, patience: float = _PATIENCE) -> Columns:
        """The columns, as far as they have been read within the time given."""
        columns = self.columns
        if not columns.ended:
            self.read_ahead()
            if self.building is not None and not self.building.columns.is_set():
                self.building.columns.wait(patience)
                return columns
            self._readers.wait(columns, patience)
        return columns

    def read_ahead(self) -> None:
        """Read the columns in the background."""
        with self._lock:
            if self.building is not None and not self.building.columns.is_set():
                self.building.start()
                return
            self._readers.read(self.columns)

    def index_ahead(self) -> threading.Thread:
        """Read the states in the background, in steps, so that a request waits for a step at most."""
        return self._readers.index()

    def kept(self, name: Any, make: Callable[[], Value], *, passing: bool = False) -> Value:
        """The value of that name: made once for each version of the log, unless many others came since.
        `passing`: one of many that scrubbing goes through, which push only each other out."""
        return self._kept.get(name, make, passing=passing)

    @property
    def flow(self) -> AgentFlow | None:
        """Who worked after whom; None of a long log until that has been read elsewhere."""
        if self._flow is not None:
            return self._flow
        if self.building is not None and not self.building.ended:
            return None
        return self.kept("flow", lambda: AgentFlow.of(self.log))

    @property
    def longest(self) -> Sequence[int]:
        """The steps that took longest, longest first; of a long log none until they have been found."""
        if self._longest is not None:
            return self._longest
        if self.building is not None and not self.building.ended:
            return ()
        end = self.timeline.at(self.log.last_seq)
        return self.kept("longest", lambda: longest_steps(end, LONGEST))

    @property
    def chain(self) -> Chain:
        """The chain, with its conversations once they have been asked for."""
        return self.kept("chain", lambda: Chain.of(self.log))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """For what must not be worked out twice at once."""
        with self._lock:
            yield

    # -- small questions ---------------------------------------------------------------------

    def seq(self, at: int | None) -> int:
        """The seq that `at` stands for: of an event there is, or 0 of an empty log."""
        last = self.log.last_seq
        return last if at is None else max(min(at, last), 0)

    def event(self, seq: int) -> Event:
        """Raises Refused: there is no such event."""
        for event in self.log.events(seq, seq + 1):
            return event
        raise Refused("not_found", f"there is no event {seq}; {_range(self.log)}")

    def ms(self, timestamp: object) -> float | None:
        """A timestamp in milliseconds since the run began; of what a fork did itself without the pause since
        its recording."""
        at = millis(timestamp)
        if at is None or self.origin is None:
            return None
        return round(self.columns.pause.without(at) - self.origin, 3)

    def elapsed(self, first: object, last: object) -> float:
        """Milliseconds from one timestamp to another; 0 where they cannot be told."""
        start, end = self.ms(first), self.ms(last)
        return 0.0 if start is None or end is None else round(max(0.0, end - start), 3)

    def depth(self, step: int | None) -> int:
        """How many steps are around what happens in `step`, that one counted."""
        return self._depths.of(self.log, step)

    def begun(self, step: int) -> Begun | None:
        """What the start of a step says."""
        return self._depths.begun(self.log, step)


def _origin(log: Log) -> float | None:
    """Time of the first event that has one that can be read."""
    first = log.first_seq
    for event in log.events(first, first + 64):
        at = millis(event.timestamp)
        if at is not None:
            return at
    return None


def _range(log: Log) -> str:
    return f"it has {log.first_seq} to {log.last_seq}" if len(log) else "it has no events"


def _stamp(path: Path) -> tuple[tuple[int, int], int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return (status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns
