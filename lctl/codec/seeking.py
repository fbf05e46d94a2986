"""Find the line of a seq among canonical lines, by interpolation.

A probe of 4 kB is read where the seq should be, then again in what is left: lines differ in length but
average out, so three probes find one line in a million. After eight the interval is halved instead,
which bounds the search whatever the lines are like.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from lctl.codec.bytesource import Bytes
from lctl.codec.lines import SEQ

_PROBE = 1 << 12
_WIDEST = 1 << 20
_PATIENCE = 8
#: A line's first bytes, enough to show its seq: `{"seq":` and 18 digits and one more.
_LEAD = 26
_MARK = b'\n{"seq":'

Start = tuple[int, int]  # (seq, offset) of a line


class Disorder(Exception):
    """The lines do not ascend: a search cannot be trusted."""


def find(data: Bytes, begin: int, end: int, first: int, last: int, seq: int) -> int:
    """Offset of the first line in [begin, end) whose seq is `seq` or higher, `end` if there is none.

    Args:
        first, last: seq of the first and the last line.

    Raises:
        Disorder: a line was met whose seq cannot be where it is.
    """
    if seq <= first:
        return begin
    if seq > last:
        return end
    low, low_seq = begin, first  # a line before the one sought
    high, high_seq = end, last + 1  # nothing unseen starts in [high, answer)
    answer = end
    tries = 0
    while high - low > _PROBE:
        tries += 1
        share = (seq - low_seq) / (high_seq - low_seq) if tries <= _PATIENCE else 0.5
        guess = low + int(share * (high - low)) - (_PROBE // 2 if tries <= _PATIENCE else 0)
        guess = min(max(guess, low + 1), high - 1)
        starts = _ends(data, guess, min(guess + _PROBE, high)) or _first_start(data, guess, high)
        if starts and not low_seq < starts[0][0] <= starts[-1][0] < high_seq:
            raise Disorder
        if not starts:
            high = guess
        elif starts[0][0] >= seq:
            high_seq, answer = starts[0]
            high = guess
        elif starts[-1][0] < seq:
            low_seq, low = starts[-1]
        else:
            return _among(_starts(data, starts[0][1], starts[-1][1] + 1), seq, answer)
    return _among(_starts(data, low, high), seq, answer)


def _among(starts: list[Start], seq: int, answer: int) -> int:
    """The first of `starts` at or after `seq`, `answer` if it is none of them."""
    if any(a[0] >= b[0] for a, b in pairwise(starts)):
        raise Disorder
    return next((at for at_seq, at in starts if at_seq >= seq), answer)


def _starts(data: Bytes, begin: int, end: int) -> list[Start]:
    """The lines that start in [begin, end), in order."""
    return list(_each_start(*_block(data, begin, end), end))


def _ends(data: Bytes, begin: int, end: int) -> list[Start]:
    """The first and the last of them only."""
    block, at = _block(data, begin, end)
    first = next(_each_start(block, at, end), None)
    if first is None:
        return []
    stop = end - at
    while (found := block.rfind(_MARK, 0, stop + len(_MARK) - 1)) >= 0 and at + found + 1 > first[1]:
        seq = SEQ.match(block, found + 1)
        if seq and at + found + 1 < end:
            return [first, (int(seq[1]), at + found + 1)]
        stop = found
    return [first]


def _block(data: Bytes, begin: int, end: int) -> tuple[bytes, int]:
    """The bytes in which lines starting in [begin, end) show their seq, and their offset."""
    if begin == 0:
        return b"\n" + data.read(0, end + _LEAD), -1
    return data.read(begin - 1, end - begin + 1 + _LEAD), begin - 1


def _each_start(block: bytes, offset: int, end: int) -> Iterator[Start]:
    found = block.find(_MARK)
    while found >= 0 and offset + found + 1 < end:
        seq = SEQ.match(block, found + 1)
        if seq:
            yield int(seq[1]), offset + found + 1
        found = block.find(_MARK, found + 1)


def _first_start(data: Bytes, begin: int, end: int) -> list[Start]:
    """The first line that starts in [begin, end), however far into it: lines may be megabytes long."""
    at, want = begin, _PROBE
    while at < end:
        starts = _ends(data, at, min(at + want, end))
        if starts:
            return starts[:1]
        at += want
        want = min(want * 4, _WIDEST)
    return []
