"""Events read from their lines, at any seq, without reading the rest of the file.

Canonical lines begin with `{"seq":N,` and ascend, so a seq is found by search (`seeking`). A file in
which that turns out untrue (a seq twice, lines out of order, damage) is indexed once, line by line, and
read through the index from then on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from lctl.codec.bytesource import Bytes
from lctl.codec.lineindex import LineIndex, index_lines
from lctl.codec.lines import SEQ, decode
from lctl.codec.log import Lines, Problem
from lctl.codec.seeking import Disorder, find
from lctl.events import Event, Step

_BLOCK = 1 << 18
_FIRST = 1 << 13
#: An unclosed log up to this size is indexed when opened: 2 ms, and no surprise later.
_SMALL = 1 << 19
#: Up to so many lines are read at once, without looking for where they end.
_WINDOW = 4096


class EventFile:
    """The event lines between two offsets of `data`.

    Args:
        line: number in the file of the first event line.
        first: the seq the chain should begin with.
        sealed: how many events the tail counted; None without one.
        tail_at: offset of the closing bracket, None without one.
    """

    def __init__(
        self,
        data: Bytes,
        begin: int,
        end: int,
        *,
        first_seq: int,
        last_seq: int,
        line: int = 2,
        first: int = 1,
        sealed: int | None = None,
        tail_at: int | None = None,
    ) -> None:
        self._data = data
        self._begin = begin
        self._end = end
        self._first = first_seq
        self._last = last_seq
        self._line = line
        self._expected_first = first
        self._tail_at = tail_at
        self._tail: dict[str, Any] | None = None
        self._index: LineIndex | None = None
        self._problems: list[Problem] | None = None
        plausible = sealed is None or sealed == last_seq - first_seq + (1 if last_seq else 0)
        plausible = plausible and bool(first_seq) == bool(last_seq)
        if not plausible or (sealed is None and end - begin <= _SMALL):
            self._scan()

    def __len__(self) -> int:
        if self._index is not None:
            return len(self._index.seqs)
        return self._last - self._first + 1 if self._last else 0

    @property
    def first_seq(self) -> int:
        return self._first

    @property
    def last_seq(self) -> int:
        return self._last

    @property
    def problems(self) -> list[Problem]:
        if self._problems is None:
            self._scan()
        return self._problems or []

    @property
    def tail(self) -> dict[str, Any] | None:
        if self._tail is None and self._tail_at is not None:
            self._tail = self._read_tail(self._tail_at)
        return self._tail

    def line_of(self, seq: int) -> int | None:
        if self._index is not None:
            return self._index.line_of(seq)
        return self._line + seq - self._first if self._first <= seq <= self._last else None

    def events(self, start: int, stop: int | None) -> Iterator[Event]:
        due = max(start, self._first)
        for line in self.lines(start, stop):
            event = event_of(line)
            if self._index is None and (event is None or event.seq != due):
                self._scan()  # the line is not what its neighbours promised
                if self._index is not None:
                    yield from self.events(due, stop)
                    return
            if event is None:
                continue
            yield event
            due = event.seq + 1

    def lines(self, start: int, stop: int | None) -> Iterator[bytes]:
        if self._index is None:
            try:
                return self._ranged(start, stop)
            except Disorder:
                self._scan()
        if self._index is None:  # what looked out of order was a change of the file under us
            return self._between(self._begin, self._end)
        return self._index.lines(self._data, start, stop)

    def _ranged(self, start: int, stop: int | None) -> Iterator[bytes]:
        """Lines of a log whose numbers ascend one by one. Raises Disorder where they turn out not to."""
        if stop is None or stop > self._last:
            return self._between(self._find(start), self._end)
        start = max(start, self._first)
        if stop - start > _WINDOW:
            return self._between(self._find(start), self._find(stop))
        return iter(self._window(self._find(start), start, stop) if start < stop else ())

    def _window(self, begin: int, start: int, stop: int) -> list[bytes]:
        """The lines from `start`, which is at `begin`, up to `stop`, in one read or two."""
        count = stop - start
        length = (self._end - self._begin) // (self._last - self._first + 1) + 1
        want = count * length * 5 // 4 + 1024
        while True:
            size = min(want, self._end - begin)
            block = self._data.read(begin, size)
            found = split(block)[:count] if block.count(b"\n") >= count or size < want else []
            if found or len(block) < size:
                break
            want *= 4
        ends = (SEQ.match(found[0]), SEQ.match(found[-1])) if len(found) == count else (None, None)
        if [end and int(end[1]) for end in ends] != [start, stop - 1]:
            raise Disorder
        return found

    def stored(self) -> Iterator[bytes]:
        return self._between(self._begin, self._end)

    def buffer(self) -> Lines | None:
        if self._index is not None or not self._last:
            return None
        if b"\r" in self._data.read(max(0, self._begin - 2), 2):
            return None  # its line ends are not line feeds alone
        return Lines(self._data, self._begin, self._end)

    def _scan(self) -> None:
        index, self._problems = index_lines(self._numbered, first=self._expected_first, line=self._line)
        if index is not None:
            self._index = index
            self._first = index.seqs[0] if index.seqs else 0
            self._last = index.seqs[-1] if index.seqs else 0

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        """(offset, line with its end) of every line."""
        for offset, block in self._blocks(self._begin, self._end):
            at = 0
            while at < len(block):
                stop = block.find(b"\n", at) + 1 or len(block)
                yield offset + at, block[at:stop]
                at = stop

    def _between(self, begin: int, end: int) -> Iterator[bytes]:
        for _, block in self._blocks(begin, end):
            yield from split(block)

    def _blocks(self, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Whole lines, little at first (many want the next event only), soon a quarter of a megabyte at a
        time; a longer line makes a longer block."""
        want = usual = _FIRST
        while begin < end:
            asked = min(want, end - begin)
            block = self._data.read(begin, asked)
            cut = asked if begin + len(block) == end else block.rfind(b"\n") + 1
            if cut:
                yield begin, block[:cut]
                begin += cut
                want = usual = min(usual * 4, _BLOCK)
            elif len(block) < asked:
                return  # the file was cut by its writer since we opened it
            else:
                want *= 8

    def _find(self, seq: int) -> int:
        """Offset of the first line whose seq is `seq` or higher; the end if there is none."""
        if not self._last:
            return self._begin
        return find(self._data, self._begin, self._end, self._first, self._last, seq)

    def _read_tail(self, at: int) -> dict[str, Any] | None:
        raw = self._data.read(at, self._data.size - at).strip(b" \t\r\n\0")
        try:
            tail = decode(b'{"events":[' + raw)
        except ValueError:
            return None
        if isinstance(tail, dict):
            tail.pop("events", None)
            return tail
        return None


def split(block: bytes) -> list[bytes]:
    """Lines of a block without commas, line ends and blank lines. (Splitting at ",\\n" takes twice as
    long as this.)"""
    return [kept for line in block.split(b"\n") if (kept := line.strip(b", \t\r"))]


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """An event with nothing unusual about it; decoded at a third of the cost of going by a dict."""

    seq: int
    type: str
    timestamp: str = ""
    agent: str = ""
    step: Step | None = None
    data: dict[str, Any] = {}


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_lines = msgspec.json.Decoder(Event).decode_lines


def event_of(line: bytes) -> Event | None:
    """The event of a line that can be taken as it stands, else None."""
    try:
        plain = _decode_line(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):  # ValueError: not UTF-8
        return _unusual(line)
    return Event(
        seq=plain.seq,
        type=plain.type,
        timestamp=plain.timestamp,
        agent=plain.agent,
        step=plain.step,
        data=plain.data,
    )


def events_of(text: bytes) -> list[Event]:
    """`event_of` for lines joined by line feeds, at three quarters of the cost; without what is no event."""
    try:
        events = _decode_lines(text)
        if len(events) == text.count(b"\n") + 1:  # else one is spread over two lines, or a line is blank
            return events
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    return [event for line in text.split(b"\n") if (event := event_of(line)) is not None]


def _unusual(line: bytes) -> Event | None:
    try:
        value = decode(line)
    except ValueError:
        return None
    if not isinstance(value, dict) or type(value.get("seq")) is not int:
        return None
    return Event.from_dict(value if "type" in value else {**value, "type": ""})
