"""A chain's events edited, dropped and added to, as if they had been recorded so. Pure.

Numbers close up: an event behind a dropped one moves down by one, behind an inserted one up by one, and
steps are named by their new numbers. What refers to a dropped event goes on to what that one stood on:

- the events inside a dropped step belong to the step around it, and its step_end is dropped with it;
- the children of a dropped message hang on its parent, and so does a prompt that ended with it;
- a message named by its seq keeps that name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from lctl.analysis.describe import describe
from lctl.errors import UsageError
from lctl.events import Event
from lctl.patch import Edit, Unaddressed, change, print_path
from lctl.payloads import PAYLOADS


class Insertion(msgspec.Struct, frozen=True):
    """An event to be put behind the one at `after`; 0 puts it before all."""

    after: int
    event: Event


class Altered(msgspec.Struct, frozen=True):
    """The events as altered.

    Attributes:
        origins: new seq -> the seq it had; an inserted event's is missing.
        touched: seqs, in the old numbers, of what was edited, dropped or inserted behind.
    """

    events: list[Event]
    origins: dict[int, int]
    touched: frozenset[int]

    def numbers(self) -> dict[int, int]:
        """Old seq -> new seq, of what is still there."""
        return {old: new for new, old in self.origins.items()}


def alter(
    events: Sequence[Event],
    edits: Iterable[tuple[int | None, Edit]] = (),
    drop: Iterable[int] = (),
    insert: Iterable[Insertion] = (),
) -> Altered:
    """The events with all changes made.

    Args:
        edits: each with the seq it is about where its own scope says none.

    Raises:
        UsageError: a change addresses nothing.
    """
    insertions = list(insert)
    known = {event.seq for event in events}
    gone = set(drop)
    for seq in sorted(gone | {one.after for one in insertions if one.after}):
        if seq not in known:
            raise UsageError(_unknown(seq, events))
    touched = set(gone) | {one.after for one in insertions}
    changed = {event.seq: event for event in events}
    for at, edit in edits:
        for event in _addressed(changed, at, edit):
            changed[event.seq] = edited(event, edit)
            touched.add(event.seq)
    ends = {event.seq for event in events if event.type == "step_end" and event.step in gone}
    gone |= ends
    kept = [event for event in changed.values() if event.seq not in gone]
    dropped = {seq: changed[seq] for seq in gone}
    events, origins = _renumbered(kept, dropped, insertions, events[0].seq if events else 1)
    return Altered(events, origins, frozenset(touched))


def edited(event: Event, edit: Edit) -> Event:
    """The event with one edit made.

    Raises:
        UsageError: the edit is none of events, or this one has nothing where it would change it.
    """
    if edit.side != "event":
        raise UsageError(f"{edit}: an event has data.NAME, event.agent, event.step and event.type")
    _refuse_misspelt(event, edit)
    try:
        if edit.root == "data":
            made = change({"data": event.data}, ("data", *edit.path), edit.operator, edit.value)["data"]
            return msgspec.structs.replace(event, data=made)
        name = str(edit.path[0])
        raw = change(event.to_dict(), edit.path, edit.operator, edit.value)
    except Unaddressed as error:
        raise UsageError(f"event {event.seq} ({describe(event)}): {error}") from None
    new = Event.from_dict(raw)
    if name in new.extra:
        raise UsageError(f"event {event.seq}: {name} cannot be {edit.value!r}")
    return new


def _refuse_misspelt(event: Event, edit: Edit) -> None:
    """A key that neither this event nor its type has is a slip, not a wish."""
    kind = PAYLOADS.get(event.type)
    if not edit.path:
        return  # all of the data
    key = edit.path[0]
    if edit.root != "data" or kind is None or not isinstance(key, str) or event.type == "message":
        return
    names = {*kind.__struct_fields__, *event.data}
    if key not in names:
        close = get_close_matches(key, names, n=1)
        hint = f"did you mean data.{close[0]}?" if close else f"it has: {', '.join(event.data)}"
        raise UsageError(f"event {event.seq} ({describe(event)}): there is no data.{key}; {hint}")


def _addressed(events: Mapping[int, Event], seq: int | None, edit: Edit) -> list[Event]:
    scope = edit.scope
    if scope.at is not None:
        seq = scope.at
    if not (scope.everywhere or scope.agent is not None or scope.start is not None) or scope.at is not None:
        if seq is None:
            raise UsageError(f"{edit}: which event? give its seq, or write @SEQ before the edit")
        if seq not in events:
            raise UsageError(_unknown(seq, list(events.values())))
        return [events[seq]]
    found = [
        event
        for event in events.values()
        if (scope.agent is None or event.agent == scope.agent)
        and (scope.start is None or event.seq >= scope.start)
        and _has(event, edit)
    ]
    if not found:
        name = f"{edit.root}.{print_path(edit.path)}"
        raise UsageError(f"{edit}: no event there has {name}")
    return found


def _has(event: Event, edit: Edit) -> bool:
    value: Any = {"data": event.data, "event": event.to_dict()}.get(edit.root)
    for segment in edit.path:
        inside = isinstance(value, dict) and segment in value
        listed = isinstance(value, list) and isinstance(segment, int) and -len(value) <= segment < len(value)
        if not inside and not listed:
            return False
        value = value[segment]  # pyright: ignore[reportCallIssue, reportArgumentType]
    return True


def _unknown(seq: int, events: Sequence[Event]) -> str:
    there = f"it has {events[0].seq} to {events[-1].seq}" if events else "it has no events"
    return f"there is no event {seq} in this log; {there}"


# -- numbers -----------------------------------------------------------------------------------


def _renumbered(
    kept: Iterable[Event], dropped: Mapping[int, Event], insertions: Sequence[Insertion], first: int
) -> tuple[list[Event], dict[int, int]]:
    behind: dict[int, list[Event]] = {}
    for one in insertions:
        behind.setdefault(one.after, []).append(one.event)
    rows: list[tuple[int | None, Event]] = [(None, event) for event in behind.pop(0, ())]
    missing = sorted(seq for seq in dropped if seq in behind)
    for event in kept:
        while missing and missing[0] < event.seq:
            rows += [(None, new) for new in behind[missing.pop(0)]]
        rows.append((event.seq, event))
        rows += [(None, new) for new in behind.get(event.seq, ())]
    for seq in missing:
        rows += [(None, new) for new in behind[seq]]
    numbers: dict[int, int] = {}
    placed: list[int] = []
    previous, old_previous = first - 1, first - 1
    for old, _ in rows:
        step = 1 if old is None else max(1, old - old_previous - _gone(old_previous, old, dropped))
        previous += step
        placed.append(previous)
        if old is not None:
            numbers[old] = previous
            old_previous = old
    within = _follow(numbers, dropped)
    named = _parents(dropped)
    events = [_moved(event, seq, old, within, named) for seq, (old, event) in zip(placed, rows, strict=True)]
    return events, {new: old for old, new in numbers.items()}


def _gone(previous: int, seq: int, dropped: Mapping[int, Event]) -> int:
    return sum(previous < one < seq for one in dropped)


def _follow(numbers: Mapping[int, int], dropped: Mapping[int, Event]) -> Callable[[int | None], int | None]:
    def within(step: int | None) -> int | None:
        seen = set()
        while step is not None and step in dropped and step not in seen:
            seen.add(step)
            step = dropped[step].step
        return None if step is None else numbers.get(step, step)

    return within


def _parents(dropped: Mapping[int, Event]) -> Callable[[Any], Any]:
    """A message id, or that of the nearest message above it that is still there."""
    above = {
        str(event.data.get("message_id") or f"#{event.seq}"): event.data.get("parent_id")
        for event in dropped.values()
        if event.type == "message"
    }

    def named(id: Any) -> Any:
        seen = set()
        while isinstance(id, str) and id in above and id not in seen:
            seen.add(id)
            id = above[id]
        return id

    return named


def _moved(
    event: Event,
    seq: int,
    old: int | None,
    within: Callable[[int | None], int | None],
    named: Callable[[Any], Any],
) -> Event:
    data = event.data
    if event.type == "message":
        if old is not None and old != seq and "message_id" not in data:
            data = {"message_id": f"#{old}", **data}
        if "parent_id" in data and named(data["parent_id"]) != data["parent_id"]:
            data = {**data, "parent_id": named(data["parent_id"])}
    for key in ("prompt", "message") if event.type in ("step_start", "step_end") else ():
        if key in data and named(data[key]) != data[key]:
            data = {**data, key: named(data[key])}
    return msgspec.structs.replace(event, seq=seq, step=within(event.step), data=data)
