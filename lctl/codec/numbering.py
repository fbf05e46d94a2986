"""Decoded values to numbered events: what a writer got wrong is read around and said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from lctl.codec.log import Problem
from lctl.codec.writers import Writers, branched
from lctl.events import Event
from lctl.payloads import check_envelope, shown

#: Line of the n-th value, or None where lines mean nothing.
LineOf = Callable[[int], int | None]


class Numbered(NamedTuple):
    """Events by ascending seq, each seq once; what had to be put right; which value each seq was."""

    events: list[Event]
    problems: list[Problem]
    places: dict[int, int]


def number(values: Sequence[Any], line_of: LineOf, *, first: int = 1) -> Numbered:
    """Takes each value for an event as far as it is one.

    A value that is no object is left out. An event without a seq takes the number after the one before
    it, if that is free. Of two events with one seq the second is another writer's (see `writers`). Gaps stay
    gaps.

    Args:
        line_of: asked only where there is a problem.
        first: the seq the log should begin with (a fork's is not 1).
    """
    events: list[Event] = []
    problems: list[Problem] = []
    stated = {seq for value in values if isinstance(value, dict) and (seq := _whole(value.get("seq")))}
    places: dict[int, int] = {}
    writers = Writers()
    previous = first - 1
    for n, value in enumerate(values):
        if not isinstance(value, dict):
            text = f"event: expected an object, got {shown(value)}; left out"
            problems.append(Problem(None, line_of(n), text))
            continue
        seq, note = take_seq(value, previous, stated)
        if note:
            problems.append(Problem(seq, line_of(n), note))
        if seq is None:
            continue
        value = value if value.get("seq") == seq else {**value, "seq": seq}
        if not (whose := writers.take(seq, value, n, partial(_says, values, value))):
            if whose is None:
                problems.append(Problem(seq, line_of(n), repeated(line_of(places.get(seq, n)))))
            continue
        event = Event.from_dict({"type": "", **value, "seq": seq})
        problems += [Problem(seq, line_of(n), text) for text in check_envelope(event)]
        if seq < previous:
            problems.append(Problem(seq, line_of(n), late(previous)))
        places[seq] = n
        events.append(event)
        previous = max(seq, previous)
    for entry in writers.renumbered(max(places, default=0)):
        before = places.get(entry.was)
        text = branched(None if before is None else line_of(before), entry.seq)
        problems.append(Problem(entry.was, line_of(entry.place), text))
        places[entry.seq] = entry.place
        events.append(Event.from_dict({"type": "", **entry.value}))
    events.sort(key=lambda event: event.seq)
    return Numbered(events, problems + gaps(places, line_of, first), places)


def _says(values: Sequence[Any], value: dict[str, Any], place: int) -> bool:
    return bool(values[place] == value)


def repeated(line: int | None) -> str:
    """Text for a second event with a seq already taken at `line`."""
    return f"seq is there twice; the one {f'at line {line}' if line else 'that came first'} stands"


def late(previous: int) -> str:
    """Text for an event that stands after one with a higher seq."""
    return f"out of order: it comes after {previous}; read in its place by seq"


def gaps(places: Mapping[int, int], line_of: LineOf, first: int = 1) -> list[Problem]:
    """One problem for each run of numbers that no event has."""
    found: list[Problem] = []
    expected = min(first, *places) if places else first
    for seq in sorted(places):
        if seq > expected:
            missing = (
                f"event {expected} is missing"
                if seq == expected + 1
                else f"events {expected} to {seq - 1} are missing"
            )
            found.append(Problem(seq, line_of(places[seq]), f"{missing} before it"))
        expected = seq + 1
    return found


def take_seq(value: dict[str, Any], previous: int, stated: set[int]) -> tuple[int | None, str]:
    """The number an event gets, and what to say about it.

    Args:
        previous: the highest number before it.
        stated: all numbers that events of the log state themselves.
    """
    raw = value.get("seq")
    seq = _whole(raw)
    if seq is not None:
        return seq, "" if seq else "seq: numbers begin at 1, got 0"
    if isinstance(raw, str) and raw.isascii() and raw.isdigit() and len(raw) < 18:
        return int(raw), f"seq: expected a whole number, got {shown(raw)}; read as {int(raw)}"
    if isinstance(raw, float) and raw.is_integer() and 0 < raw < 2**53:
        return int(raw), f"seq: expected a whole number, got {raw}; read as {int(raw)}"
    wrong = "seq: missing" if "seq" not in value else f"seq: expected a whole number from 1, got {shown(raw)}"
    place = previous + 1
    if place in stated:
        return None, f"{wrong}, and its place is taken; left out"
    return place, f"{wrong}; read as {place}, its place"


def _whole(value: Any) -> int | None:
    """A seq that can be used as it stands."""
    return value if type(value) is int and 0 <= value < 10**18 else None
