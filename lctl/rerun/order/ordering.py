"""In which order recorded crossings began, and in which order what they brought was delivered.

A crossing without `at` was alone: everything before it in the file was over before it, everything after
began after it. So crossings without `at` part the file into stretches, inside which `at` is the order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from lctl.rerun.order.moments import (
    ENDED,
    START,
    Moment,
    follow_log,
    is_end,
    moments_of,
    put_before_calls,
    put_before_wakes,
)
from lctl.rerun.order.spots import LAST, Spot
from lctl.rerun.tape.entries import Entry
from lctl.session.concurrency import pooljobs

if TYPE_CHECKING:
    from lctl.rerun.tape.tape import Tape


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
    if tape.entries:
        return _origin(tape.entries) / 1000
    first = next(iter(tape.log.events()), None)
    return (_ms(first.timestamp) / 1000 or None) if first is not None else None


def end_of(tape: Tape) -> float | None:
    """Milliseconds from the recording's origin to its last event; None likewise."""
    if not tape.entries:
        return None
    return _ms(tape.log.event(tape.log.last_seq).timestamp) - _origin(tape.entries)


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
    before: Entry | None = None
    origin = _origin(entries)
    for stretch in _stretches(entries):
        moments: list[Moment] = []
        for entry in stretch:
            start = entry.at
            if start is None:
                start = max(last, _wall(entry) - origin - entry.duration)
            moments += moments_of(entry, start)
        dated = [one for one in moments if one.entry.seq not in apart]
        heads = put_before_wakes(dated) | put_before_calls(dated)
        follow_log(dated)
        moments.sort(key=lambda one: (one.at, one.seq is None, one.seq or 0, one.part))
        for one in moments:
            last = max(last, one.at)
            key = (mark + one.entry.lane, one.entry.kind, one.entry.number, one.part)
            turn = _turn(one, alone=one.entry.seq in heads)
            if one.entry.slept is not None and before is not None and before.slept == one.entry.slept:
                found[-1] = _again(found[-1], key[0])
            before = one.entry
            found.append(Delivery(last, key, turn, _spot(one)))
    return found


def _again(slept: Delivery, lane: str) -> Delivery:
    """A sleep, behind which one like it comes in `lane`."""
    return slept._replace(spot=slept.spot._replace(again=slept.key[0] == lane))


def _turn(one: Moment, *, alone: bool) -> int | None:
    """Of the loop that it reached. In older logs nobody counted when the head of a stream came: it comes with
    the first piece, which then follows it, unless it is known to have come alone."""
    if one.part == START:
        return one.entry.began
    if one.part > 0 and one.entry.received:
        return one.entry.received[one.part - 1][1]
    turns = one.entry.turns
    if one.entry.head is not None and (one.entry.times is not None or one.entry.cancelled) and one.part >= 0:
        return one.entry.head_turn if one.part == 0 else turns[one.part - 1] if turns else None
    if turns and one.part >= 0:
        if alone and one.part < 2:
            return turns[0] if one.part else None
        return turns[0] if one.part == 0 else 0 if one.part == 1 else turns[one.part - 1]
    return one.entry.turn if is_end(one) else None


def _spot(one: Moment) -> Spot:
    """What of a stream comes before its end has none in older logs: it comes behind all that is there."""
    entry = one.entry
    if entry.behinds is not None and one.part >= 0 and entry.times:
        return Spot(None, entry.behinds.get(one.part, 0), True)
    if one.part > 0 and entry.received:
        return Spot(None, entry.received[one.part - 1][2] or 0)
    exact = entry.behinds is not None
    if not is_end(one) or (entry.ahead is None and entry.behind is None):
        return LAST._replace(exact=exact)
    return Spot(entry.ahead, entry.behind or 0, exact)


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
    return _ms(entry.timestamp)


def _ms(timestamp: str) -> float:
    try:
        return datetime.fromisoformat(timestamp).timestamp() * 1000
    except ValueError:
        return 0.0
