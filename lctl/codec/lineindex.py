"""The index of event lines that do not ascend one by one: seq to place, damage left out."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from lctl.codec.bytesource import Bytes
from lctl.codec.lines import SEQ, decode, encode_value
from lctl.codec.log import Problem
from lctl.codec.numbering import gaps, late, repeated, take_seq
from lctl.codec.writers import Writers, branched
from lctl.events import Event
from lctl.payloads import check_envelope, shown

#: (seq, offset, size in bytes, line number)
Row = tuple[int, int, int, int]


class LineIndex:
    """Where each seq's line is. 32 bytes an event; lines whose seq had to be put right are kept."""

    def __init__(self, rows: Sequence[Row], mended: dict[int, bytes]) -> None:
        self.seqs = array("q", (row[0] for row in rows))
        self._offsets = array("q", (row[1] for row in rows))
        self._sizes = array("q", (row[2] for row in rows))
        self._numbers = array("q", (row[3] for row in rows))
        self._mended = mended

    def line_of(self, seq: int) -> int | None:
        """Number in the file of a seq's line."""
        n = bisect_left(self.seqs, seq)
        return self._numbers[n] if n < len(self.seqs) and self.seqs[n] == seq else None

    def lines(self, data: Bytes, start: int, stop: int | None) -> Iterator[bytes]:
        """Lines with start <= seq < stop, by seq."""
        end = len(self.seqs) if stop is None else bisect_left(self.seqs, stop)
        for n in range(bisect_left(self.seqs, start), end):
            mended = self._mended.get(self.seqs[n])
            yield mended or data.read(self._offsets[n], self._sizes[n]).strip(b", \t\r\n")


class _Scan:
    """One pass over the lines, in the order of the file.

    As long as the lines ascend one by one nothing is kept of them: a log of a million events that has
    nothing wrong with it takes no memory to find that out.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.problems: list[Problem] = []
        self.ascending = True
        self.previous = first - 1

    def take(self, number: int, raw: bytes) -> None:
        value = self.value(number, raw)
        if value is None:
            return
        seq = value.get("seq")
        start = SEQ.match(raw)
        if type(seq) is not int or seq != self.previous + 1 or not start or int(start[1]) != seq:
            self.ascending = False  # not one higher, or not where a search would see it
        if not _plain(value) and type(seq) is int:
            event = Event.from_dict({"type": "", **value})
            self.problems += [Problem(seq, number, text) for text in check_envelope(event)]
        self.previous += 1

    def value(self, number: int, raw: bytes) -> dict[str, Any] | None:
        """The line's object; None, and said, when it is none."""
        try:
            value = decode(raw)
        except ValueError as error:
            if raw.strip(b", \t\r\n"):
                self.problems.append(Problem(None, number, f"{error}; left out"))
                self.ascending = False
            return None
        if isinstance(value, dict):
            return value
        text = f"event: expected an object, got {shown(value)}; left out"
        self.problems.append(Problem(None, number, text))
        self.ascending = False
        return None


def index_lines(
    lines: Callable[[], Iterable[tuple[int, bytes]]], *, first: int, line: int
) -> tuple[LineIndex | None, list[Problem]]:
    """Reads every line. No index is needed, and None given, when the events ascend one by one from
    `first` and nothing is damaged.

    Args:
        lines: gives (offset, line) in the file's order, each time from the start.
        first: the seq the chain should begin with.
        line: number in the file of the first of them.
    """
    scan = _Scan(first)
    for number, (_, raw) in enumerate(lines(), line):
        scan.take(number, raw)
    if scan.ascending:
        return None, scan.problems
    return _index(scan, lines(), line)


def _index(scan: _Scan, lines: Iterable[tuple[int, bytes]], line: int) -> tuple[LineIndex, list[Problem]]:
    """The second pass, over lines that are not in order: places, and what is wrong with the order."""
    problems = scan.problems
    places: dict[int, Row] = {}
    writers = Writers()
    without: list[tuple[Row, int, dict[str, Any]]] = []
    previous = scan.first - 1
    for number, (offset, raw) in enumerate(lines, line):
        value = _object(raw)
        if value is None:
            continue
        seq = value.get("seq")
        if type(seq) is not int or not 0 < seq < 10**18:
            without.append(((0, offset, len(raw), number), previous, value))
            previous += 1
            continue
        key = hash(raw.strip(b", \t\r\n"))
        place = (offset, len(raw), number, key)
        if not (whose := writers.take(seq, value, place, partial(_has, key))):
            if whose is None:
                problems.append(Problem(seq, number, repeated(places[seq][3] if seq in places else None)))
            continue
        if seq < previous:
            problems.append(Problem(seq, number, late(previous)))
        places[seq] = (seq, offset, len(raw), number)
        previous = max(seq, previous)
    mended = _number_the_rest(places, without, problems)
    for entry in writers.renumbered(max(places, default=0)):
        offset, size, number, _ = entry.place
        before = places.get(entry.was)
        problems.append(Problem(entry.was, number, branched(before and before[3], entry.seq)))
        places[entry.seq] = (entry.seq, offset, size, number)
        mended[entry.seq] = encode_value(entry.value)
    problems += gaps({seq: row[3] for seq, row in places.items()}, lambda number: number, scan.first)
    problems.sort(key=lambda problem: problem.line or 0)
    return LineIndex([places[seq] for seq in sorted(places)], mended), problems


def _has(key: int, place: tuple[int, int, int, int]) -> bool:
    return place[3] == key


def _number_the_rest(
    places: dict[int, Row], without: list[tuple[Row, int, dict[str, Any]]], problems: list[Problem]
) -> dict[int, bytes]:
    """Places for events without a usable seq; gives their lines with one."""
    mended: dict[int, bytes] = {}
    stated = set(places)
    for (_, offset, size, number), previous, value in without:
        seq, note = take_seq(value, previous, stated)
        problems.append(Problem(seq, number, note))
        if seq is None:
            continue
        if seq in places:
            problems.append(Problem(seq, number, repeated(places[seq][3])))
            continue
        places[seq] = (seq, offset, size, number)
        mended[seq] = encode_value({"seq": seq, **{k: v for k, v in value.items() if k != "seq"}})
    return mended


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = decode(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _plain(value: dict[str, Any]) -> bool:
    """The envelope is as it should be (most lines, so this is quick)."""
    return (
        type(value.get("data")) is dict
        and type(value.get("type")) is str
        and type(value.get("timestamp", "")) is str
        and type(value.get("agent", "")) is str
        and type(value.get("step", 0)) is int
    )
