"""Edits on plain JSON values: the changed value, sharing what did not change with the old one.

A text put behind a text with `+=` stands apart from it: where neither has white space at the joint, a
blank comes between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from lctl.patch.edits import Before, Operator, Segment
from lctl.patch.writing import print_path, print_value

_NOTHING: Any = object()


class Unaddressed(Exception):
    """The value has nothing where the edit would change it; the text says what is missing."""


def change(value: Any, path: Sequence[Segment], operator: Operator, operand: Any) -> Any:
    """`value` with the edit made at `path`.

    Raises:
        Unaddressed: there is nothing at `path`, or nothing that the operator can work on.
    """
    return _at(value, tuple(path), 0, lambda old: operate(old, operator, operand, tuple(path)))


def operate(old: Any, operator: Operator, operand: Any, path: tuple[Segment, ...] = ()) -> Any:
    """What the operator makes of `old` (`_NOTHING` where there was none); `_NOTHING` removes it."""
    if operator == "=":
        return operand
    if operator == "+=":
        return _added(old, operand, path)
    if old is _NOTHING:
        raise Unaddressed(f"there is no {print_path(path) or 'value'}")
    if operator == "del":
        return _NOTHING
    if operator == "-=":
        return _taken(old, operand, path)
    return _replaced(old, operand, path)


def join_texts(old: str, more: str) -> str:
    """`old`, then `more`, kept apart by white space."""
    apart = not old or not more or old[-1].isspace() or more[0].isspace()
    return old + more if apart else f"{old} {more}"


def _at(value: Any, path: tuple[Segment, ...], depth: int, make: Callable[[Any], Any]) -> Any:
    if depth == len(path):
        made = make(value)
        return None if made is _NOTHING and depth == 0 else made
    segment, last = path[depth], depth == len(path) - 1
    here = path[: depth + 1]
    if isinstance(segment, str):
        if value is _NOTHING or value is None:
            value = {}  # what is not there yet is made on the way
        if not isinstance(value, dict):
            raise Unaddressed(f"{_named(here[:-1])} is {_kind(value)} and has no {segment}")
        inner = _at(value.get(segment, _NOTHING), path, depth + 1, make)
        if inner is _NOTHING:
            return {key: one for key, one in value.items() if key != segment}
        return {**value, segment: inner}
    if not isinstance(value, list):
        raise Unaddressed(f"{_named(here[:-1])} is {_kind(value)} and no list")
    if isinstance(segment, Before):
        at = len(value) if segment.at is None else segment.at
        if not -len(value) <= at <= len(value):
            raise Unaddressed(f"{_named(here[:-1])} has {len(value)} items")
        new = _at(_NOTHING, path, depth + 1, make)
        at = at if at >= 0 else len(value) + at
        return [*value[:at], new, *value[at:]]
    if not -len(value) <= segment < len(value):
        raise Unaddressed(f"there is no {_named(here)}; {_named(here[:-1])} has {len(value)} items")
    at = segment if segment >= 0 else len(value) + segment
    inner = _at(value[at], path, depth + 1, make)
    return [*value[:at], *([] if inner is _NOTHING and last else [inner]), *value[at + 1 :]]


def _added(old: Any, more: Any, path: tuple[Segment, ...]) -> Any:
    if old is _NOTHING or old is None:
        return more
    if isinstance(old, str):
        return join_texts(old, more if isinstance(more, str) else print_value(more))
    if isinstance(old, list):
        return [*old, *more] if isinstance(more, list) else [*old, more]
    if isinstance(old, dict) and isinstance(more, dict):
        return {**old, **more}
    if _is_number(old) and _is_number(more):
        return old + more
    raise Unaddressed(f"{print_path(path)} is {_kind(old)}; {_kind(more)} cannot be added to it")


def _taken(old: Any, less: Any, path: tuple[Segment, ...]) -> Any:
    name = print_path(path)
    if isinstance(old, str) and isinstance(less, str):
        if not less or less not in old:
            raise Unaddressed(f"{name} does not hold {less!r}")
        return old.replace(less, "")
    if isinstance(old, list):
        kept = [one for one in old if not same(one, less)]
        if len(kept) == len(old):
            raise Unaddressed(f"{name} has no item {print_value(less)}")
        return kept
    if isinstance(old, dict) and isinstance(less, str):
        if less not in old:
            raise Unaddressed(f"{name} has no {less}")
        return {key: one for key, one in old.items() if key != less}
    if _is_number(old) and _is_number(less):
        return old - less
    raise Unaddressed(f"{name} is {_kind(old)}; {_kind(less)} cannot be taken from it")


def _replaced(old: Any, operand: Any, path: tuple[Segment, ...]) -> str:
    pattern, replacement, flags = operand
    if not isinstance(old, str):
        raise Unaddressed(f"{print_path(path)} is {_kind(old)} and no text")
    wanted = (re.IGNORECASE if "i" in flags else 0) | (re.DOTALL if "s" in flags else 0)
    new, count = re.subn(pattern, replacement, old, flags=wanted)
    if not count:
        raise Unaddressed(f"{print_path(path)} has nothing that fits {pattern!r}")
    return new


def same(left: Any, right: Any) -> bool:
    """Equal as JSON text: 1 is neither 1.0 nor true; the order of keys says nothing."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named(path: tuple[Segment, ...]) -> str:
    return print_path(path) or "it"


def _kind(value: Any) -> str:
    if value is None or value is _NOTHING:
        return "not there"
    for kind, name in ((str, "a text"), (bool, "true or false"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return name
    return "a number"
