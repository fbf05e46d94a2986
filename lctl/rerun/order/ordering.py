"""In which order recorded crossings began, and in which order what they brought was delivered.

A crossing without `at` was alone: everything before it in the file was over before it, everything after
began after it. So crossings without `at` part the file into stretches, inside which `at` is the order.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from lctl.rerun.order.spots import LAST, Spot
from lctl.rerun.tape.entries import Entry
from lctl.session.concurrency import pooljobs
from lctl.session.concurrency.lanes import is_aside

if TYPE_CHECKING:
    from lctl.rerun.tape.tape import Tape

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


class Delivery(NamedTuple):
    """One thing that reached the program.

    Attributes:
        at_ms: from the recording's origin.
        key: (lane, kind, number, part); part 0 is an answer or the head of one, 1, 2, ... the chunks of
            a stream, or what came while a tool call was under way.
        turn: of an event loop that it reached, counted from what reached that before; None if unknown.
        spot: its place in that turn.
    """

    at_ms: float
    key: tuple[str, str, int, int]
    turn: int | None = None
    spot: Spot = LAST


def keys(entry: Entry, mark: str) -> list[tuple[str, str, int, int]]:
    """Of everything that the entry delivers."""
    parts = range(ENDED, len(entry.times or entry.received) + 1)
    return [(mark + entry.lane, entry.kind, entry.number, part) for part in parts]


def together(tapes: Sequence[Tape]) -> list[Delivery]:
    """What all sessions of one process delivered, in order."""
    if len(tapes) == 1:
        return tapes[0].deliveries
    first = _origin(tapes[0].entries)
    found = []
    for tape in tapes:
        later = _origin(tape.entries) - first if tape.entries else 0.0
        found += [one._replace(at_ms=one.at_ms + later) for one in tape.deliveries]
    return sorted(found, key=lambda one: one.at_ms)


def wall_of(tape: Tape) -> float | None:
    """Seconds of the clock on the wall at the recording's origin; None where it holds nothing that tells."""
    return _origin(tape.entries) / 1000 if tape.entries else None


def in_order(entries: list[Entry]) -> list[Entry]:
    """Entries by their start."""
    ordered: list[Entry] = []
    for stretch in _stretches(sorted(entries, key=lambda entry: (entry.begins, entry.seq))):
        ordered += stretch
    return ordered


def deliveries(entries: list[Entry], mark: str = "", apart: Collection[int] = ()) -> list[Delivery]:
    """What `entries` (by their start) delivered, in order; requests that were made while others were under
    way among it. `mark` goes before each key's lane; the times of entries in `apart` (their seqs) are of
    another clock, and nothing is behind them.

    The log's own order is that in which the program saw what it recorded: of two answers that came within
    microseconds it says which was taken first. Times say the rest.
    """
    found: list[Delivery] = []
    last = 0.0
    origin = _origin(entries)
    for stretch in _stretches(entries):
        moments: list[_Moment] = []
        for entry in stretch:
            start = entry.at
            if start is None:
                start = max(last, _wall(entry) - origin - entry.duration)
            moments += _moments(entry, start)
        dated = [one for one in moments if one.entry.seq not in apart]
        heads = _put_before_wakes(dated) | _put_before_calls(dated)
        _follow_log(dated)
        moments.sort(key=lambda one: (one.at, one.seq is None, one.seq or 0, one.part))
        for one in moments:
            last = max(last, one.at)
            key = (mark + one.entry.lane, one.entry.kind, one.entry.number, one.part)
            turn = _turn(one, alone=one.entry.seq in heads)
            found.append(Delivery(last, key, turn, _spot(one)))
    return found


def _turn(one: _Moment, *, alone: bool) -> int | None:
    """Of the loop that it reached. In older logs nobody counted when the head of a stream came: it comes with
    the first piece, which then follows it, unless it is known to have come alone."""
    if one.part == START:
        return one.entry.began
    if one.part > 0 and one.entry.received:
        return one.entry.received[one.part - 1][1]
    turns = one.entry.turns
    if one.entry.head is not None and (one.entry.times or one.entry.cancelled) and one.part >= 0:
        return one.entry.head_turn if one.part == 0 else turns[one.part - 1] if turns else None
    if turns and one.part >= 0:
        if alone and one.part < 2:
            return turns[0] if one.part else None
        return turns[0] if one.part == 0 else 0 if one.part == 1 else turns[one.part - 1]
    return one.entry.turn if _is_end(one) else None


def _is_end(one: _Moment) -> bool:
    return one.seq is not None and one.part <= 0 and one.part not in (START, RESUMED)


def _spot(one: _Moment) -> Spot:
    """What of a stream comes before its end has none in older logs: it comes behind all that is there."""
    entry = one.entry
    if entry.behinds is not None and one.part >= 0 and entry.times:
        return Spot(None, entry.behinds.get(one.part, 0), True)
    if one.part > 0 and entry.received:
        return Spot(None, entry.received[one.part - 1][2] or 0)
    exact = entry.behinds is not None
    if not _is_end(one) or (entry.ahead is None and entry.behind is None):
        return LAST._replace(exact=exact)
    return Spot(entry.ahead, entry.behind or 0, exact)


class _Moment:
    """`seq`: of the event that was written at this moment; and a half where it was between that and the next
    one; None where neither is known."""

    __slots__ = ("at", "entry", "part", "seq")

    def __init__(self, at: float, entry: Entry, part: int, seq: float | None) -> None:
        self.at = at
        self.entry = entry
        self.part = part
        self.seq = seq


def _moments(entry: Entry, start: float) -> Iterator[_Moment]:
    if entry.kind in pooljobs.AFTER:
        yield _Moment(start, entry, 0, entry.seq + 0.5)  # after that event, and before the next
        return
    if entry.at is not None and entry.kind == "exchange":
        yield _Moment(start, entry, START, None if entry.plain or entry.retry else entry.begins)
    elif entry.at is not None and entry.began is not None:
        # Whether a result reached a loop before or after that started another tool tells no time.
        yield _Moment(start, entry, START, None)
    for part, (ms, *_) in enumerate(entry.received, 1):
        if ms is not None:
            yield _Moment(start + ms, entry, part, None)
    if entry.times:
        yield _Moment(start + (entry.times[0] if entry.head is None else entry.head), entry, 0, None)
        for part, ms in enumerate(entry.times, 1):
            yield _Moment(start + ms, entry, part, None)
        if not entry.cancelled and not entry.left:
            yield _Moment(
                start + entry.duration + _AFTER, entry, ENDED, None if entry.lingering else entry.seq
            )
    elif entry.lingering:
        yield _Moment(start + entry.duration, entry, 0, None)
    elif entry.left and entry.kind == "tool":
        return
    elif not entry.cancelled:
        yield _Moment(start + entry.duration, entry, 0, entry.seq)
    elif entry.status is not None:  # the head came, and no more of it: some time before the end
        yield _Moment(start + (entry.head or _AFTER), entry, 0, None)
    if entry.cancelled or entry.lingering:
        yield _Moment(start + entry.duration + 2 * _AFTER, entry, END, entry.seq)
    if entry.resumed is not None:
        yield _Moment(max(entry.resumed, start + entry.duration) + 2 * _AFTER, entry, RESUMED, None)


def _put_before_wakes(moments: list[_Moment]) -> set[int]:
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


def _put_before_calls(moments: list[_Moment]) -> set[int]:
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
        if entry.head is not None if entry.times else entry.kind != "exchange" or entry.turn is not None:
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


def _wakes(moments: list[_Moment]) -> dict[str, list[_Moment]]:
    """By the lanes whose threads they are of, in the log's order."""
    found: dict[str, list[_Moment]] = {}
    for one in sorted((one for one in moments if one.entry.kind in WAKES and one.part == 0), key=_seq):
        lane = one.entry.lane
        while "." in lane:
            lane = lane.rpartition(".")[0]
            found.setdefault(lane, []).append(one)
    return found


def _seq(one: _Moment) -> float:
    return one.seq or 0


def _follow_log(moments: list[_Moment]) -> None:
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


def _tell(gone_on: list[tuple[int, float]], one: _Moment) -> None:
    if one.entry.told is not None:
        heappush(gone_on, (one.entry.told, one.at))


def _stretches(entries: list[Entry]) -> Iterator[list[Entry]]:
    stretch: list[Entry] = []
    for entry in entries:
        if entry.at is None:
            if stretch:
                yield sorted(stretch, key=lambda one: (one.at or 0.0, one.begins))
                stretch = []
            yield [entry]
        else:
            stretch.append(entry)
    if stretch:
        yield sorted(stretch, key=lambda one: (one.at or 0.0, one.begins))


def _origin(entries: list[Entry]) -> float:
    """Wall milliseconds of the recording's origin, as far as it can be told."""
    for entry in entries:
        if entry.at is not None and entry.kind not in pooljobs.AFTER:  # which is written at the end
            return _wall(entry) - entry.duration - entry.at
    return min((_wall(entry) - entry.duration for entry in entries), default=0.0)


def _wall(entry: Entry) -> float:
    try:
        return datetime.fromisoformat(entry.timestamp).timestamp() * 1000
    except ValueError:
        return 0.0
