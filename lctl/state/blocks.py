"""The events of a log in blocks, as the fold takes them, read forward once and again in parts."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

import msgspec

from lctl.codec.log import Lines
from lctl.state.intake import Known
from lctl.state.source import EventSource, LineSource
from lctl.state.tolerant import Taken, take, take_line

#: Bytes after which a block ends early, so that large events do not make a seek slow.
_LARGE = 1 << 18
#: Lines are read in pieces of this size.
_WINDOW = 1 << 18
#: Lines decoded in one call, where they come one by one.
_SOME = 256
#: Bytes that stand between two events, at most.
_BETWEEN = 64

#: What decoding raises on a line that does not fit: of another shape, nested too deeply, not UTF-8.
_REFUSED = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)

# Versions of msgspec differ in what their decoders say they return.
_decode_block: Callable[[bytes], Any] = msgspec.json.Decoder(list[Known]).decode
_decode_line: Callable[[bytes], Any] = msgspec.json.Decoder(Known).decode


class Blocks(Protocol):
    """Blocks of events by ascending seq. None is empty."""

    def more(self) -> Iterator[list[Taken]]:
        """The blocks not read yet. May be left at any point, and goes on there the next time."""
        ...

    def part(self, block: int, seq: int) -> list[Taken]:
        """The events of a block read before, up to and including `seq`."""
        ...

    def grow(self, source: EventSource) -> bool:
        """Go on with a longer log that begins with the events of this one; False if that cannot be."""
        ...

    def event(self, seq: int) -> Taken | None:
        """One event of the blocks read before."""
        ...


class LineBlocks:
    """Blocks cut from event lines: some lines are decoded in one call, straight into the intake.

    How many is guessed from their size, because counting lines takes a tenth of the time of reading them;
    where it comes out as many more than `every`, they become several blocks.
    """

    def __init__(self, lines: Lines, every: int) -> None:
        self._source = lines.source
        self._end = lines.end
        self._every = every
        self._at = lines.begin
        self._window = b""  # a piece of the lines, and where it begins
        self._window_at = lines.begin
        self._size = 320 * every  # bytes that probably hold a block
        self._offsets = array("q")
        self._ends = array("q")
        self._firsts = array("q")
        self._last = -1  # block of the event that was read last
        self._opened: tuple[int, dict[int, Taken]] = (-1, {})  # one that was read from again, decoded

    def more(self) -> Iterator[list[Taken]]:
        while self._at < self._end:
            begin = self._at - self._window_at
            stop = self._block(begin)
            if stop == 0:
                self._slide()
                continue
            events = _decode(self._window, begin, stop)
            if not events:
                self._at = self._window_at + stop
                continue
            self._size = min(_LARGE, (stop - begin) * self._every // len(events) + 1)
            for end, block in self._parts(events, begin, stop):
                self._offsets.append(self._at)
                self._at = self._window_at + end
                self._ends.append(self._at)
                self._firsts.append(block[0].seq)
                yield block
        self._window = b""

    def _parts(self, events: list[Taken], begin: int, stop: int) -> list[tuple[int, list[Taken]]]:
        """The events between two places of the window, each block of them with where it ends."""
        every = self._every
        if len(events) <= every + every // 4:
            return [(stop, events)]
        parts = []
        for n in range(every, len(events), every):
            begin = self._window.find(b'\n{"seq":%d,' % events[n].seq, begin, stop) + 1
            if begin == 0:  # a line in another form: where it begins is not known
                return [(stop, events)]
            parts.append((begin, events[n - every : n]))
        return [*parts, (stop, events[len(parts) * every :])]

    def grow(self, source: EventSource) -> bool:
        """Go on with the lines of a longer log that begins with these; False if it gives no lines."""
        lines = source.buffer() if isinstance(source, LineSource) else None
        if lines is None or lines.begin > self._at or lines.end < self._at:
            return False
        self._source, self._end, self._window = lines.source, lines.end, b""
        between = self._source.read(self._at, min(_BETWEEN, self._end - self._at))
        self._at += len(between) - len(between.lstrip(b", \r\n"))
        return True

    def packed(self) -> tuple[Any, ...]:
        """Where the blocks are that were read, for `take_up`."""
        return self._at, self._offsets, self._ends, self._firsts

    def take_up(self, places: tuple[Any, ...]) -> None:
        """Go on where blocks of the same log were packed."""
        self._at, self._offsets, self._ends, self._firsts = places
        self._window, self._window_at = b"", self._at

    def part(self, block: int, seq: int) -> list[Taken]:
        chunk = self._chunk(block)
        cut = chunk.find(b'\n{"seq":%d,' % (seq + 1))
        if cut >= 0:
            return _decode(chunk, 0, cut)
        return [event for event in _decode(chunk, 0, len(chunk)) if event.seq <= seq]  # a gap follows `seq`

    def event(self, seq: int) -> Taken | None:
        block = bisect_right(self._firsts, seq) - 1
        opened, events = self._opened
        if block == opened:
            return events.get(seq)
        chunk = self._chunk(block)
        if block == self._last:  # a second one of the same block: there will be more
            events = {event.seq: event for event in _decode(chunk, 0, len(chunk))}
            self._opened = (block, events)
            return events.get(seq)
        self._last = block
        lead = b'{"seq":%d,' % seq
        at = 0 if chunk.startswith(lead) else chunk.find(b"\n" + lead) + 1
        return _one(chunk[at : (chunk.find(b"\n", at) + 1 or len(chunk))].strip(b", \t\r\n"))

    def _chunk(self, block: int) -> bytes:
        begin = self._offsets[block]
        return self._source.read(begin, self._ends[block] - begin)

    def _slide(self) -> None:
        """Move the window to where we are; make it longer if we are there already."""
        size = _WINDOW if self._window_at != self._at or not self._window else 4 * len(self._window)
        self._window_at = self._at
        size = min(size, self._end - self._at)
        self._window = self._source.read(self._at, size)
        if len(self._window) < size:  # someone has cut the file
            self._end = self._at + len(self._window)

    def _block(self, begin: int) -> int:
        """Where in the window the lines end that begin at `begin` and are probably a block. 0 if that is not
        in the window."""
        window = self._window
        stop = window.find(b"\n", begin + self._size) + 1
        if stop == 0 and self._window_at + len(window) >= self._end:
            return len(window) if begin < len(window) else 0
        return stop


def _decode(window: bytes, begin: int, stop: int) -> list[Taken]:
    """The events of some lines. What is not an event is left out, as a log leaves it out."""
    last = stop
    while last > begin and window[last - 1] in b", \t\r\n":
        last -= 1
    text = b"".join((b"[", memoryview(window)[begin:last], b"]"))
    if _is_text(text):
        try:
            events: list[Taken] = _decode_block(text)
            return events
        except _REFUSED:
            pass
    lines = window[begin:stop].split(b"\n")
    return [event for line in lines if (event := _one(line.strip(b", \t\r"))) is not None]


def _one(line: bytes) -> Taken | None:
    if _is_text(line):
        try:
            event: Taken = _decode_line(line)
            return event
        except _REFUSED:
            pass
    return take_line(line)


def _is_text(line: bytes) -> bool:
    """UTF-8 throughout. The decoder does not look at what it skips, and such a line is no event."""
    if line.isascii():
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def decode_lines(lines: Iterable[bytes]) -> Iterator[list[Taken]]:
    """Blocks of events from lines without commas and line ends."""
    source = iter(lines)
    while some := list(islice(source, _SOME)):
        block = _decode(chunk := b",\n".join(some), 0, len(chunk))
        if block:
            yield block


class DecodedBlocks:
    """Blocks of a log that gives only decoded events."""

    def __init__(self, source: EventSource, every: int) -> None:
        self._source = source
        self._every = every
        self._next = source.first_seq
        self._firsts = array("q")

    def more(self) -> Iterator[list[Taken]]:
        events = self._source.events(self._next)
        while block := [take(event) for event in islice(events, self._every)]:
            self._firsts.append(block[0].seq)
            self._next = block[-1].seq + 1
            yield block

    def grow(self, source: EventSource) -> bool:
        self._source = source
        return True

    def part(self, block: int, seq: int) -> list[Taken]:
        return [take(event) for event in self._source.events(self._firsts[block], seq + 1)]

    def event(self, seq: int) -> Taken | None:
        return next((take(event) for event in self._source.events(seq, seq + 1)), None)
