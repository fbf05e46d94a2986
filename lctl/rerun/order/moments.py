"""Moments: when each part of a recorded crossing reached the program, and what besides times says of that."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf

from lctl.rerun.tape.entries import Entry
from lctl.session.concurrency import pooljobs
from lctl.session.concurrency.lanes import above, is_aside

START = -1
#: The part of a call that the program cancelled.
END = -2
#: The program's going on after what came was recorded.
RESUMED = -3
#: The end of a stream, or its being closed.
ENDED = -4

#: What threads hand to event loops.
WAKES = frozenset({"wake", pooljobs.HEARD})

#: Milliseconds that keep what follows another thing at the same reading of the clock behind it.
_AFTER = 1e-5


class Moment:
    """`seq`: of the event that was written at this moment; and a half where it was between that and the next
    one; None where neither is known."""

    __slots__ = ("at", "entry", "part", "seq")

    def __init__(self, at: float, entry: Entry, part: int, seq: float | None) -> None:
        self.at = at
        self.entry = entry
        self.part = part
        self.seq = seq


def moments_of(entry: Entry, start: float) -> Iterator[Moment]:
    if entry.kind in pooljobs.AFTER:
        yield Moment(start, entry, 0, entry.seq + 0.5)  # after that event, and before the next
        return
    if entry.at is not None and entry.kind == "exchange":
        yield Moment(start, entry, START, None if entry.plain or entry.retry else entry.begins)
    elif entry.at is not None and entry.began is not None:
        # Whether a result reached a loop before or after that started another tool tells no time.
        yield Moment(start, entry, START, None)
    for part, (ms, *_) in enumerate(entry.received, 1):
        if ms is not None:
            yield Moment(start + ms, entry, part, None)
    if entry.times or (entry.times is not None and entry.head is not None):
        yield Moment(start + (entry.times[0] if entry.head is None else entry.head), entry, 0, None)
        for part, ms in enumerate(entry.times, 1):
            yield Moment(start + ms, entry, part, None)
        if not entry.cancelled and not entry.left:
            yield Moment(
                start + entry.duration + _AFTER, entry, ENDED, None if entry.lingering else entry.seq
            )
    elif entry.lingering:
        yield Moment(start + entry.duration, entry, 0, None)
    elif entry.left and entry.kind == "tool":
        return
    elif not entry.cancelled:
        yield Moment(start + entry.duration, entry, 0, entry.seq)
    elif entry.status is not None:  # the head came, and no more of it: some time before the end
        yield Moment(start + (entry.head or _AFTER), entry, 0, None)
    if entry.cancelled or entry.lingering:
        yield Moment(start + entry.duration + 2 * _AFTER, entry, END, entry.seq)
    if entry.resumed is not None:
        yield Moment(max(entry.resumed, start + entry.duration) + 2 * _AFTER, entry, RESUMED, None)


def put_before_wakes(moments: list[Moment]) -> set[int]:
    """An answer is written when its SDK returns, which may hand it to threads first (mistralai does): what
    these tell the loop of its call is in the log before it, and came after it; of a stream, after its head.
    The seqs of the streams whose heads came before such."""
    heads: set[int] = set()
    wakes = _wakes(moments)
    for one in moments if wakes else ():
        entry = one.entry
        if entry.kind != "exchange" or one.part not in (0, ENDED):
            continue
        is_head = one.part == 0 and bool(entry.times)
        if is_head and entry.head is not None:
            continue
        there = wakes.get(entry.lane, [])
        for wake in there[bisect_right(there, float(entry.begins), key=_seq) :]:
            told = _seq(wake)
            if told >= entry.seq:
                break
            if (wake.at < one.at) is is_head:
                if is_head:
                    heads.add(entry.seq)
                    one.at = wake.at
                one.seq = min(one.seq or told, told - 0.5)
    return heads


def put_before_calls(moments: list[Moment]) -> set[int]:
    """When the head of a stream came is not in older logs: it is taken to come with the first piece. Where
    its lane made another call before that, the head had come before: litellm asks Ollama for the model upon
    the first head of all, and never again. The seqs of such streams.

    Nor is it in any log of other bodies, whose event is written at their end: where the program asked for
    something else first, or never read them, it had the head before that.
    """
    heads: set[int] = set()
    calls: dict[str, list[float]] = {}
    for one in moments:
        if one.part == START:
            insort(calls.setdefault(one.entry.lane, []), one.at)
    for one in moments:
        entry = one.entry
        if one.part != 0 or entry.at is None or is_aside(entry.lane):
            continue
        comes_apart = entry.times is not None
        if entry.head is not None if comes_apart else entry.kind != "exchange" or entry.turn is not None:
            continue
        there = calls[entry.lane]
        after = bisect_right(there, entry.at)
        if after < len(there) and there[after] < one.at:
            one.at = there[after] - _AFTER
            if entry.times:
                heads.add(entry.seq)
            else:
                one.seq = None
    return heads


def _wakes(moments: list[Moment]) -> dict[str, list[Moment]]:
    """By the lanes whose threads they are of, in the log's order."""
    found: dict[str, list[Moment]] = {}
    for one in sorted((one for one in moments if one.entry.kind in WAKES and one.part == 0), key=_seq):
        lane = one.entry.lane
        while "." in lane:
            lane = above(lane)
            found.setdefault(lane, []).append(one)
    return found


def _seq(one: Moment) -> float:
    return one.seq or 0


def follow_log(moments: list[Moment]) -> None:
    """Let the moments that have an event be in its order; the chunks of a stream stay behind its start, and
    the program's going on behind the end. What is behind the first event of a lane that went on is behind
    its going on. A request may leave long after the event that it has, where its thread was kept from it: it
    is not later than what the log has behind that."""
    last = 0.0
    starts: dict[int, float] = {}
    resumed = {id(one.entry): one for one in moments if one.part == RESUMED}
    gone_on: list[tuple[int, float]] = []  # first event of a lane after its going on, and when that was
    for one in resumed.values():
        _tell(gone_on, one)
    told = sorted((one for one in moments if one.seq is not None), key=_seq)
    soonest = inf
    for one in reversed(told):
        if one.part == START:
            one.at = min(one.at, soonest)
        soonest = min(soonest, one.at)
    for one in told:
        while gone_on and gone_on[0][0] <= _seq(one):
            last = max(last, heappop(gone_on)[1] + _AFTER)
        last = one.at = max(last, one.at)
        if one.part == START:
            starts[id(one.entry)] = one.at
        elif id(one.entry) in resumed:
            after = resumed[id(one.entry)]
            after.at = max(after.at, one.at + _AFTER)
            _tell(gone_on, after)
    for one in moments:
        if one.seq is None and one.part != START:
            one.at = max(one.at, starts.get(id(one.entry), 0.0))


def _tell(gone_on: list[tuple[int, float]], one: Moment) -> None:
    if one.entry.told is not None:
        heappush(gone_on, (one.entry.told, one.at))


def is_end(one: Moment) -> bool:
    return one.seq is not None and one.part <= 0 and one.part not in (START, RESUMED)
