"""What differs inside two events that are the same thing: fields by path, texts by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from lctl.analysis.align import align
from lctl.analysis.essence import CallNames, apart, reduce
from lctl.events import Event

#: Lines of context around a changed line.
_CONTEXT = 2


class FieldChange(msgspec.Struct, frozen=True):
    """One field that differs. `path` is dotted (`input.pattern`, `content[0].text`); None is "not there".
    `unified` holds the lines of a text that differ, each begun with " ", "-", "+" or "@"."""

    path: str
    left: Any
    right: Any
    unified: tuple[str, ...] = ()


def essence(event: Event, calls: CallNames) -> dict[str, Any]:
    """The event's data without what two runs of the same work never share."""
    data = apart(event.data)
    reduce(event.type, data, calls)
    return data


def changes(left: Event, right: Event, calls: CallNames, other_calls: CallNames) -> list[FieldChange]:
    """Fields that differ in essence."""
    return [
        *_compare(_head(left), _head(right), ""),
        *_compare(essence(left, calls), essence(right, other_calls), ""),
    ]


def _head(event: Event) -> dict[str, str]:
    """A prompt message or a blob is recorded by whoever needed it first; its agent says nothing."""
    shared = event.type == "blob" or (event.type == "message" and event.data.get("sampled") is not True)
    return {"type": event.type} if shared else {"type": event.type, "agent": event.agent}


def unified(left: str, right: str) -> tuple[str, ...]:
    """Lines that differ, with a little context."""
    mine, other = left.splitlines(), right.splitlines()
    rows = list(_rows(mine, other))
    wanted = [False] * len(rows)
    for n, row in enumerate(rows):
        if row[0] != " ":
            for near in range(max(0, n - _CONTEXT), min(len(rows), n + _CONTEXT + 1)):
                wanted[near] = True
    shown: list[str] = []
    for n, row in enumerate(rows):
        if wanted[n]:
            if n and not wanted[n - 1]:
                shown.append("@")
            shown.append(row)
    return tuple(shown)


def _rows(mine: list[str], other: list[str]) -> Iterator[str]:
    next_other = 0
    pending: list[str] = []
    for line, place in zip(mine, align(mine, other), strict=True):
        if place < 0:
            pending.append(f"-{line}")
            continue
        yield from pending
        pending = []
        yield from (f"+{added}" for added in other[next_other:place])
        yield f" {line}"
        next_other = place + 1
    yield from pending
    yield from (f"+{added}" for added in other[next_other:])


def _compare(left: Any, right: Any, path: str) -> Iterator[FieldChange]:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            where = f"{path}.{key}" if path else str(key)
            yield from _compare(left.get(key), right.get(key), where)
    elif isinstance(left, list) and isinstance(right, list):
        yield from _compare_lists(left, right, path)
    elif not _equal(left, right):
        lines: tuple[str, ...] = ()
        if isinstance(left, str) and isinstance(right, str) and ("\n" in left or "\n" in right):
            lines = unified(left, right)
        yield FieldChange(path, left, right, lines)


def _compare_lists(left: list[Any], right: list[Any], path: str) -> Iterator[FieldChange]:
    if len(left) == len(right):
        for n, (mine, other) in enumerate(zip(left, right, strict=True)):
            yield from _compare(mine, other, f"{path}[{n}]")
        return
    keys, other_keys = [repr(one) for one in left], [repr(one) for one in right]
    places = align(keys, other_keys)
    for n, place in enumerate(places):
        if place < 0:
            yield FieldChange(f"{path}[{n}]", left[n], None)
    for m in sorted(set(range(len(right))) - set(places)):
        yield FieldChange(f"{path}[{m}]", None, right[m])


def _equal(left: Any, right: Any) -> bool:
    """Equal as JSON: 1 is 1.0, true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)
