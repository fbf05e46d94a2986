"""Alignment of two sequences of hashable keys: trim, bits for what is small, patience, shingles for what
repeats. Linear or nearly so on 100,000 keys whatever they hold; difflib takes minutes there.

The result maps each position of the left to its equal position of the right, in order, or to -1.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice, pairwise

#: Insertions plus deletions Myers may look for before the range is cut up in another way.
_EDITS = 48
#: Keys on both sides together of which the longest common subsequence is looked for.
_SMALL = 4096
#: Longest run that is tried as an anchor where single keys repeat too much to be any.
_LONGEST = 64

#: A range of the left and one of the right: (from, to, from, to).
_Range = tuple[int, int, int, int]


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[int]:
    """For each position of `left`, the position of `right` it is matched with, or -1; strictly increasing."""
    size, other_size = len(left), len(right)
    alike = 0
    for key, other in zip(left, right, strict=False):
        if key != other:
            break
        alike += 1
    if alike in (size, other_size):
        return [*range(alike), *[-1] * (size - alike)]
    if size + other_size <= _SMALL:
        return _longest(left, right, alike)
    return _align(left, right, alike)


def _longest(left: Sequence[Hashable], right: Sequence[Hashable], alike: int) -> list[int]:
    """As many as keep their order: the longest common subsequence. Of several that are as long one in which
    what was changed stands in its place: gaps of both sides at once. The first keys are `alike`."""
    size, other_size = len(left), len(right)
    match = [*range(alike), *[-1] * (size - alike)]
    while size > alike and other_size > alike and left[size - 1] == right[other_size - 1]:
        size -= 1
        other_size -= 1
        match[size] = other_size
    mine, other = left[alike:size], right[alike:other_size]
    if not mine or not other:
        return match
    rows = _rows(mine, other)
    if rows[-1] == rows[0]:
        return match
    other_rows: list[int] = []
    n, at = len(mine), len(other)
    while n and at:
        if mine[n - 1] == other[at - 1]:
            n -= 1
            at -= 1
            match[alike + n] = alike + at
            continue
        # With what is left of both, can that of one side, and then that of the other, be left out?
        is_spare = rows[at] >> n - 1 & 1
        if is_spare and not other_rows:
            other_rows = _rows(other, mine)
        if is_spare and other_rows[n - 1] >> at - 1 & 1:
            n -= 1
            at -= 1
        elif is_spare and (n > at or not other_rows[n] >> at - 1 & 1):
            n -= 1
        else:
            at -= 1
    return match


def _rows(keys: Sequence[Hashable], others: Sequence[Hashable]) -> list[int]:
    """The table of the longest common subsequences, a row in the bits of one number (Hyyrö, "Bit-parallel
    LCS-length computation revisited", 2004): after so many of `others`, a bit is 0 where one more of `keys`
    makes the sequence longer."""
    places: dict[Hashable, int] = {}
    bit = 1
    for key in keys:
        places[key] = places.get(key, 0) | bit
        bit <<= 1
    full = row = bit - 1
    rows = [row]
    get = places.get
    for key in others:
        met = row & get(key, 0)
        if met:
            row = ((row + met) | (row - met)) & full
        rows.append(row)
    return rows


def _align(left: Sequence[Hashable], right: Sequence[Hashable], alike: int) -> list[int]:
    """Of sequences whose first keys are `alike`."""
    match = [*range(alike), *[-1] * (len(left) - alike)]
    ranges: list[_Range] = [(alike, len(left), alike, len(right))]
    while ranges:
        low, high, other_low, other_high = ranges.pop()
        low, high, other_low, other_high = _trim(left, right, match, low, high, other_low, other_high)
        if low == high or other_low == other_high:
            continue
        if high - low == 1 and other_high - other_low == 1:
            continue
        here = (low, high, other_low, other_high)
        if high - low + other_high - other_low <= _SMALL:
            found = _longest(left[low:high], right[other_low:other_high], 0)
            match[low:high] = [place if place < 0 else other_low + place for place in found]
            continue
        anchors = _unique(left, right, here, 1)
        if anchors is None:
            continue
        if not anchors:
            if _myers(left, right, match, here):
                continue
            anchors = _shingled(left, right, here) or _by_occurrence(left, right, here)
        _between(match, anchors, here, ranges)
    return match


def _trim(
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    match: list[int],
    low: int,
    high: int,
    other_low: int,
    other_high: int,
) -> _Range:
    start = low
    while low < high and other_low < other_high and left[low] == right[other_low]:
        low += 1
        other_low += 1
    match[start:low] = range(other_low - (low - start), other_low)
    end = high
    while low < high and other_low < other_high and left[high - 1] == right[other_high - 1]:
        high -= 1
        other_high -= 1
    match[high:end] = range(other_high, other_high + (end - high))
    return low, high, other_low, other_high


def _unique(
    left: Sequence[Hashable], right: Sequence[Hashable], here: _Range, length: int
) -> list[tuple[int, int]] | None:
    """Runs of `length` that occur once on each side, as (left, right) in an order both share.

    None when the sides have nothing in common at all.
    """
    low, high, other_low, other_high = here
    mine, other = left[low:high], right[other_low:other_high]
    if length > 1:
        mine = list(map(hash, zip(*(mine[n:] for n in range(length)), strict=False)))
        other = list(map(hash, zip(*(other[n:] for n in range(length)), strict=False)))
    counts, other_counts = Counter(mine), Counter(other)
    common = counts.keys() & other_counts.keys()
    if not common:
        return None
    places = dict(zip(other, range(other_low, other_high), strict=False))
    pairs = [
        (n, places[key])
        for n, key in enumerate(mine, low)
        if counts[key] == 1 and key in common and other_counts[key] == 1
    ]
    return _increasing(pairs)


def _increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose right positions increase (patience sorting)."""
    if all(a[1] < b[1] for a, b in pairwise(pairs)):
        return pairs
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for n, (_, place) in enumerate(pairs):
        if not tails or place > tails[-1]:
            before.append(ends[-1] if ends else -1)
            tails.append(place)
            ends.append(n)
        else:
            pile = bisect_left(tails, place)
            before.append(ends[pile - 1] if pile else -1)
            tails[pile] = place
            ends[pile] = n
    chosen: list[tuple[int, int]] = []
    n = ends[-1] if ends else -1
    while n >= 0:
        chosen.append(pairs[n])
        n = before[n]
    chosen.reverse()
    return chosen


def _between(match: list[int], anchors: list[tuple[int, int]], here: _Range, ranges: list[_Range]) -> None:
    low, high, other_low, other_high = here
    for n, place in anchors:
        match[n] = place
        if n > low and place > other_low:
            ranges.append((low, n, other_low, place))
        low, other_low = n + 1, place + 1
    if low < high and other_low < other_high:
        ranges.append((low, high, other_low, other_high))


def _shingled(left: Sequence[Hashable], right: Sequence[Hashable], here: _Range) -> list[tuple[int, int]]:
    """Anchors from runs long enough that chance alone would hardly repeat them."""
    low, high, other_low, other_high = here
    size = min(high - low, other_high - other_low)
    kinds = len(set(left[low:high]))
    length = 2 + math.ceil(2 * math.log(size) / math.log(max(2, kinds)))
    while length <= min(size, _LONGEST):
        runs = _unique(left, right, here, length)
        if runs is None:
            break
        if runs:
            # equal hashes of runs are no proof; the runs' first keys are what is matched
            return [(n, place) for n, place in runs if left[n] == right[place]]
        length *= 2
    return []


def _by_occurrence(
    left: Sequence[Hashable], right: Sequence[Hashable], here: _Range
) -> list[tuple[int, int]]:
    """The n-th occurrence of a key on one side for the n-th on the other, as many as keep their order."""
    low, high, other_low, other_high = here
    places: dict[Hashable, list[int]] = {}
    for place in range(other_low, other_high):
        places.setdefault(right[place], []).append(place)
    coming = {key: iter(found) for key, found in places.items()}
    nothing: Iterator[int] = iter(())
    pairs = [(n, place) for n in range(low, high) for place in islice(coming.get(left[n], nothing), 1)]
    return _increasing(pairs)


def _myers(left: Sequence[Hashable], right: Sequence[Hashable], match: list[int], here: _Range) -> bool:
    """Fewest insertions and deletions, if there are at most `_EDITS`; False (nothing matched) if more."""
    low, high, other_low, other_high = here
    width, other_width = high - low, other_high - other_low
    if abs(width - other_width) > _EDITS:
        return False
    mine, other = left[low:high], right[other_low:other_high]
    # By diagonal, of which those below 0 stand at the end; -1 is further back than any can be.
    furthest = [-1] * (2 * _EDITS + 4)
    furthest[1] = 0
    history: list[list[int]] = []
    for edits in range(_EDITS + 1):
        history.append(furthest.copy())
        # Beyond a width there is nothing.
        first, last = 2 * max(0, edits - other_width) - edits, edits - 2 * max(0, edits - width)
        for diagonal in range(first, last + 1, 2):
            x, across = furthest[diagonal + 1], furthest[diagonal - 1]
            if across >= x:
                x = across + 1
            y = x - diagonal
            while x < width and y < other_width and mine[x] == other[y]:
                x += 1
                y += 1
            furthest[diagonal] = x
            if x >= width and y >= other_width:
                _trace_back(match, here, history, diagonal)
                return True
    return False


def _trace_back(match: list[int], here: _Range, history: list[list[int]], diagonal: int) -> None:
    low, high, other_low, other_high = here
    x, y = high - low, other_high - other_low
    for edits in range(len(history) - 1, -1, -1):
        down, across = history[edits][diagonal + 1], history[edits][diagonal - 1]
        start = down if down > across else across + 1
        while x > start and y > start - diagonal:
            x -= 1
            y -= 1
            match[low + x] = other_low + y
        if edits == 0:
            return
        diagonal += 1 if down > across else -1
        x = history[edits][diagonal]
        y = x - diagonal
