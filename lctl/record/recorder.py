"""The recorder: assign seq, serialise, append, return.

The caller's values are serialised on the caller's thread, at once (0.2 us an event; copying them for
another thread would cost 5 us, and they may change under us). One lock orders seq and bytes. A
garbage-collection finaliser or a signal handler may record while this very thread is recording: its
events wait until the one in hand is stored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import orjson

from lctl.clock import Clock, system_clock
from lctl.errors import RecordingError
from lctl.guard import guard
from lctl.interrupts import let_cause_through
from lctl.record.store import EventStore

#: (type, agent, data, step) of an event that has no seq and time yet.
Draft = tuple[str, str, dict[str, Any], int | None]
Build = Callable[[int], list[Draft]]

_dumps = orjson.dumps

_IDLE = 0
_BUSY = 1
#: After a call that did not get to its end: an interrupt (KeyboardInterrupt, any number of them) may come
#: between any two instructions. Whether the event was stored, the store knows.
_UNSURE = 2
#: Nothing more is taken.
_ENDED = 3


class Record(Protocol):
    """Append one event; its seq. When it returns, the store holds the event.

    Raises:
        RecordingError: the store refused; no seq was used.
    """

    def __call__(self, type: str, agent: str, data: dict[str, Any], step: int | None = None) -> int: ...


class Recorder:
    """Numbers events and appends them to a store.

    Args:
        store: where the lines go.
        clock: source of timestamps.
        default: what orjson asks for a value it does not know (see `orjson.dumps`).
        encode: event -> JSON bytes, for events orjson refuses all the same (cycles, odd keys).
        scrub: (line, event) -> the line as it may be stored; None stores lines as they are.
        passes: (lines joined, finite) -> whether `scrub` would change none of them, told by one look at
            all; without it every line of a batch is scrubbed by itself.
    """

    def __init__(
        self,
        store: EventStore,
        *,
        clock: Clock = system_clock,
        default: Callable[[Any], Any] | None = None,
        encode: Callable[[dict[str, Any]], bytes] | None = None,
        scrub: Callable[[bytes, dict[str, Any]], bytes] | None = None,
        passes: Callable[[bytes, bool], bool] | None = None,
    ) -> None:
        self.store = store
        self.seq = store.last_seq
        self.record = self._recording(store, clock.now, default, scrub)
        self._append = store.append
        self._now = clock.now
        self._default = default
        self._encode = encode
        self._scrub = scrub
        self._passes = passes
        self._lock = store.lock
        self._entering, self._leave = _entering(store.lock), store.lock.release
        self._state = _IDLE
        self._taking = 1  # events the call in hand will store; 0 while that is not known
        #: How many events the last `record_many` that raised was about.
        self.refused = 1
        self._waiting: list[Draft | Build] = []
        self._ended = ""

    record: Record

    def _recording(
        self,
        store: EventStore,
        now: Callable[[], str],
        default: Callable[[Any], Any] | None,
        scrub: Callable[[bytes, dict[str, Any]], bytes] | None,
    ) -> Record:
        """`record`, as a closure over what does not change: that is 100 ns of 1500 (see benchmarks)."""
        entering, leave, append, dumps = _entering(store.lock), store.lock.release, store.append, orjson.dumps

        def record(type: str, agent: str, data: dict[str, Any], step: int | None = None) -> int:
            for _ in entering:
                break
            try:
                if self._state and self._is_busy():
                    return self._wait((type, agent, data, step))
                self._state = _BUSY
                try:
                    seq = self.seq + 1
                    if step is None:
                        event = {"seq": seq, "type": type, "timestamp": now(), "agent": agent, "data": data}
                    else:
                        event = {
                            "seq": seq,
                            "type": type,
                            "timestamp": now(),
                            "agent": agent,
                            "step": step,
                            "data": data,
                        }
                    try:
                        line = dumps(event, default)
                    except TypeError as error:
                        let_cause_through(error)
                        line = self._encoded(event)
                    if scrub is not None:
                        line = scrub(line, event)
                    append(line)
                    self.seq = seq
                    self._state = _IDLE
                except BaseException:
                    self._state = _UNSURE  # first: interrupts may come in the middle of this, too
                    if self._waiting:
                        self._store_waiting()
                    raise
                if self._waiting:
                    self._store_waiting()
                return seq
            finally:
                leave()

        return record

    def record_many(self, build: Build, finite: bool = False) -> int:
        """Append several events in one write: `build(first_seq)` gives them. Returns the first seq.

        `build` runs under the recorder's lock, so drafts may name each other's seq. It may give none.
        What is written at once happened at once: the events carry one timestamp.

        Args:
            finite: the caller knows of no NaN or Infinity in the drafts (their values came as JSON).

        Raises:
            RecordingError: the store refused; none is stored.
        """
        for _ in self._entering:
            break
        try:
            if self._state and self._is_busy():
                return self._wait(build)
            self._state = _BUSY
            self._taking = 0
            try:
                first = self.seq + 1
                drafts = build(first)
                if drafts:
                    count = self._taking = len(drafts)
                    self._append(self._block(first, drafts, finite), count)
                    self.seq = first + count - 1
                self._taking = 1
                self._state = _IDLE
            except BaseException:
                self._state = _UNSURE  # first: interrupts may come in the middle of this, too
                self.refused = self._taking or 1
                self._taking = 1
                if self._waiting:
                    self._store_waiting()
                raise
            if self._waiting:
                self._store_waiting()
            return first
        finally:
            self._leave()

    def _block(self, seq: int, drafts: list[Draft], finite: bool) -> bytes:
        """The lines of `drafts`, the first of which is event `seq`."""
        now, default = self._now(), self._default
        events: list[dict[str, Any]] = []
        lines: list[bytes] = []
        for type, agent, data, step in drafts:
            event: dict[str, Any] = {"seq": seq, "type": type, "timestamp": now, "agent": agent}
            if step is not None:
                event["step"] = step
            event["data"] = data
            try:
                lines.append(_dumps(event, default))
            except TypeError as error:
                let_cause_through(error)
                lines.append(self._encoded(event))
            events.append(event)
            seq += 1
        block = b",\n".join(lines)
        if self._scrub is None or (self._passes is not None and self._passes(block, finite)):
            return block
        return b",\n".join(map(self._scrub, lines, events))

    def _encoded(self, event: dict[str, Any]) -> bytes:
        if self._encode is None:
            return _dumps(event, self._default)  # raises again, with its reason
        return self._encode(event)

    def _is_busy(self) -> bool:
        """Whether this thread is in the middle of a call; else it is idle now, and sure of `seq`.

        Raises:
            RecordingError: nothing more is taken.
        """
        if self._state == _ENDED:
            raise RecordingError(f"{self._ended}: the log is closed")
        if self._state == _UNSURE:
            self.seq = self.store.last_seq
            self._state = _IDLE
        return self._state == _BUSY

    def end(self, where: str) -> None:
        """Take nothing more: a thread that waits to record is refused, and what is stored is all there is.

        Args:
            where: the log, for what others are told.
        """
        with self._lock:
            if self._state == _UNSURE:
                self.seq = self.store.last_seq
            self._ended, self._state = where, _ENDED

    # -- recording while recording -----------------------------------------------------------

    def _wait(self, item: Draft | Build) -> int:
        """Keep an event that came in the middle of another; the seq it will get.

        0 when that cannot be said yet, because the other is still being built.
        """
        ahead = len(self._waiting)
        self._waiting.append(item)
        return self.seq + self._taking + ahead + 1 if self._taking else 0

    def _store_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for item in waiting:
            try:
                if callable(item):
                    self.record_many(item)
                else:
                    self.record(*item)
            except Exception as error:
                guard.failed("event", error)


def _entering(lock: threading.RLock) -> Iterator[object]:
    """An endless iterator that takes the lock at each step: `for _ in it: break`, then `try ... finally`.

    What `with` does, in two thirds of its time. As there, no interrupt comes between having the lock and
    being in the block: Python looks for signals at calls and at jumps back, and here is neither.
    """
    return iter(lock.acquire, None)
