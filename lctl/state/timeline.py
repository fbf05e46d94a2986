"""The state at any seq, in any order.

A log is read once, from the beginning and only as far as has been asked for, in blocks of about 40 events;
the `Index` keeps what each changed. The state at a seq is then the one after the block before it, and at
most so many events more. Windows of events need none of this: `event` and `events` go to the log.
"""

from __future__ import annotations

import pickle
import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from lctl.events import Event
from lctl.state import collection
from lctl.state.blocks import Blocks, DecodedBlocks, LineBlocks
from lctl.state.builder import Builder
from lctl.state.index import Index
from lctl.state.model import State
from lctl.state.reducer import reduce
from lctl.state.shelf import Shelves
from lctl.state.source import EventSource, LineSource


class _Reading(NamedTuple):
    """A log as far as it has been read."""

    blocks: Blocks
    states: Index  # the state after each block
    firsts: array[int]  # seq of each block's first event
    lasts: array[int]

    def covers(self, seq: int) -> bool:
        """The block in which `seq` is, or would be, has been read."""
        return len(self.lasts) > 0 and seq <= self.lasts[-1]


class Timeline:
    """Random access to the states of one log.

    Args:
        source: the log.
        every: events in a block, about. More make the index smaller and a state dearer.
        shelved: the index of a long log keeps what is old in a temporary file; of that path, if it is one.

    Nothing is read before the first `at`. A state stays what it is for as long as it is kept; it looks
    things up in the index, and messages in the log, when asked. Safe to use from several threads.
    """

    def __init__(self, source: EventSource, *, every: int = 40, shelved: bool | str = False) -> None:
        self.source = source
        self._every = every
        self._shelved = shelved
        self._lock = threading.Lock()
        self._reading = self._begin(_blocks_of(source, every))

    def _begin(self, blocks: Blocks) -> _Reading:
        path = self._shelved if isinstance(self._shelved, str) else ""
        shelves = Shelves(path=path) if self._shelved else None
        index = Index(str(self.source.chain.get("id") or ""), blocks.event, shelves)
        return _Reading(blocks, index, array("q"), array("q"))

    def packed(self) -> bytes | None:
        """What was read, for `take_up` over the same file of shelves in another process. None where the log
        is not line by line in order; nothing is to be read here afterwards."""
        blocks, states, firsts, lasts = self._reading
        if not isinstance(blocks, LineBlocks):
            return None
        return pickle.dumps((blocks.packed(), states.packed(), firsts, lasts), pickle.HIGHEST_PROTOCOL)

    def take_up(self, packed: bytes) -> None:
        """Know what a timeline of the same log read whose shelves are in the file of this one's. The bytes
        must come from one: what they say is done."""
        places, states, firsts, lasts = pickle.loads(packed)
        blocks, index, _, _ = self._reading
        if isinstance(blocks, LineBlocks):
            blocks.take_up(places)
            index.take_up(states)
            self._reading = _Reading(blocks, index, firsts, lasts)

    def __len__(self) -> int:
        """Events in the log."""
        return len(self.source)

    def event(self, seq: int) -> Event:
        """The event numbered `seq`.

        Raises:
            UsageError: there is none.
        """
        return self.source.event(seq)

    def events(self, start: int = 1, stop: int | None = None) -> Iterator[Event]:
        """Events with start <= seq < stop."""
        return self.source.events(start, stop)

    @property
    def last(self) -> State:
        """The state at the end of the log."""
        return self.at(self.source.last_seq)

    def at(self, seq: int) -> State:
        """What the events with seq <= `seq` say: `fold` of them. Any number will do; before the first
        event nothing is said yet, after the last one everything."""
        self.read_to(seq)
        blocks, states, firsts, lasts = self._reading
        block = bisect_right(firsts, seq) - 1
        if block < 0:
            return states.state(-1)
        if seq >= lasts[block]:
            return states.state(block)
        events = blocks.part(block, seq)
        states.at_hand(events)
        builder = Builder(states.state(block - 1))
        reduce(builder, events)
        return builder.frozen(lazy=True)

    def near(self, seq: int) -> State:
        """The state after the last block that ends at or before `seq`: at hand without a fold."""
        self.read_to(seq)
        _, states, _, lasts = self._reading
        return states.state(bisect_right(lasts, seq) - 1)

    def around(self, seq: int) -> tuple[State, State]:
        """The states before the event numbered `seq` and after it: one fold, not two."""
        self.read_to(seq)
        blocks, states, firsts, _ = self._reading
        block = bisect_right(firsts, seq) - 1
        if block < 0:
            return states.state(-1), states.state(-1)
        events = blocks.part(block, seq)
        states.at_hand(events)
        builder = Builder(states.state(block - 1))
        if events and events[-1].seq == seq:
            reduce(builder, events[:-1])
            before = builder.frozen(lazy=True)
            builder = Builder(before)
            reduce(builder, events[-1:])
            return before, builder.frozen(lazy=True)
        reduce(builder, events)  # there is no such event: nothing happened
        now = builder.frozen(lazy=True)
        return now, now

    @property
    def known(self) -> int:
        """Up to this seq the log has been read; 0 where nothing has."""
        lasts = self._reading.lasts
        return lasts[-1] if lasts else 0

    def read_to(self, seq: int) -> None:
        """Read on, so that states up to `seq` are at hand. Only the first to ask pays."""
        if not self._reading.covers(seq):
            with self._lock, collection.paused(ageing=True):
                self._read_to(seq)

    def grow(self, source: EventSource) -> None:
        """Go on with a longer log that begins with the events of this one, as a running program writes it:
        what was read stays, states that were given stay what they are."""
        with self._lock:
            self.source = source
            if not self._reading.blocks.grow(source):
                self._reading = self._begin(_blocks_of(source, self._every))

    def _read_to(self, seq: int) -> None:
        reading = self._reading
        if reading.covers(seq):
            return  # another thread was faster
        for block in reading.blocks.more():
            in_order = reading.states.add(block)
            if not in_order and isinstance(reading.blocks, LineBlocks):
                # The lines are not what they promised: take the events as the log sorts them.
                self._reading = self._begin(DecodedBlocks(self.source, self._every))
                self._read_to(seq)
                return
            # The first seq comes last: `at` finds a block by it.
            reading.lasts.append(block[-1].seq)
            reading.firsts.append(block[0].seq)
            if seq <= block[-1].seq:
                return


def _blocks_of(source: EventSource, every: int) -> Blocks:
    if isinstance(source, LineSource):
        lines = source.buffer()
        if lines is not None:
            return LineBlocks(lines, every)
    return DecodedBlocks(source, every)
