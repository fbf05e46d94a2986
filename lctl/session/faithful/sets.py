"""Sets, in the order in which a program meets their elements.

That order follows from hashes, from the size of a set's table and, where elements want one place in it, from
which came first. So a set is written in an order of insertion that makes it again as it was. Such an order is
looked for by trial: elements that came out at another place are moved about, a bounded number of times.
"""

from __future__ import annotations

import operator
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import orjson

from lctl.session.faithful.coding import Decoder, Encoder
from lctl.session.faithful.tables import DECODERS, ENCODERS, Note, Unfaithful

_TRIES = 200
#: Elements of a set, and bytes of its table, up to which an order is looked for.
_ELEMENTS = 2_000
_TABLE = 1 << 17
_PLACE = 16  # bytes of a table for one element: its hash and its address

Build = Callable[[Sequence[Any]], "set[Any] | frozenset[Any]"]


def fill() -> None:
    for name, kind in (("set", set), ("frozenset", frozenset)):
        ENCODERS[kind] = partial(_encoded, name)
    DECODERS["set"] = _of_set
    DECODERS["frozenset"] = lambda d, made, note: note(_frozen(made)([d.value(item) for item in made["v"]]))


def _encoded(name: str, encoder: Encoder, value: Any) -> dict[str, Any]:
    if encoder.is_loose(value):
        return _loose(name, encoder, value)
    for marks, build in _ways(value):
        order = _insertion(list(value), build, sys.getsizeof(value), exact=bool(marks))
        if order is not None:
            return {"$": name, "v": [encoder.value(item) for item in order]} | marks
    encoder.loosen(value)
    return _loose(name, encoder, value)


def _loose(name: str, encoder: Encoder, value: Any) -> dict[str, Any]:
    """In an order of its own: a program that goes through the elements may meet them in another one."""
    items = sorted(value, key=lambda item: orjson.dumps(Encoder().value(item)))
    return {"$": name, "v": [encoder.value(item) for item in items], "order": "any"}


def _of_set(decoder: Decoder, made: dict[str, Any], note: Note) -> Any:
    items: set[Any] = note(set())
    _fill_set(items, [decoder.value(item) for item in made["v"]], made)
    return items


def _ways(value: Any) -> list[tuple[dict[str, Any], Build]]:
    """How a set may have come to the size of its table, with the marks for the log."""
    marks: list[dict[str, Any]] = [{}, {"of": "keys"}]
    if type(value) is frozenset:
        return [(mark, _frozen(mark)) for mark in marks]
    if fillers := _fillers(value):
        marks.append({"fillers": fillers})
    return [(mark, partial(_thawed, mark)) for mark in marks]


def _thawed(marks: dict[str, Any], items: Sequence[Any]) -> set[Any]:
    made: set[Any] = set()
    _fill_set(made, items, marks)
    return made


def _frozen(marks: dict[str, Any]) -> Build:
    if marks.get("of") == "keys":
        return lambda items: frozenset(dict.fromkeys(items))
    return frozenset


def _fill_set(made: set[Any], items: Sequence[Any], marks: dict[str, Any]) -> None:
    """A table grows in smaller steps for the keys of a dict, and keeps its size when elements leave it."""
    fillers = [_Filler(n) for n in range(min(int(marks.get("fillers", 0)), _TABLE))]
    made.update(dict.fromkeys([*items, *fillers]) if fillers or marks.get("of") == "keys" else items)
    for filler in fillers:
        made.discard(filler)  # all at once, the table would be made anew


def _fillers(value: set[Any]) -> int:
    """How many more keys of a dict make a table as large as that of `value`."""
    size = sys.getsizeof(value)
    places = (size - sys.getsizeof(set())) // _PLACE
    return max(places // 4 + 1 - len(value), 0) if size <= _TABLE else 0


class _Filler:
    """Takes a place in a table for a while."""

    def __init__(self, place: int) -> None:
        self._place = place

    def __hash__(self) -> int:
        return self._place


def _insertion(wanted: list[Any], build: Build, size: int, exact: bool) -> list[Any] | None:
    """An order in which `build` makes a set whose elements come as in `wanted`; None if none is found.

    Args:
        size: of the table there was.
        exact: a table of another size is none, even if the elements come in order.
    """
    order, chance = wanted, random.Random(0)
    made = build(order)
    wrong = _misplaced(made, wanted)
    if sys.getsizeof(made) != size and (wrong or exact):
        return None
    if len(wanted) > _ELEMENTS and wrong:
        return None
    for _ in range(_TRIES):
        if not wrong:
            return order
        moved = _moved(order, chance.choice(wrong), chance.choice(wrong), chance)
        now = _misplaced(build(moved), wanted)
        if len(now) <= len(wrong):
            order, wrong = moved, now
    return None


def _moved(order: list[Any], one: Any, other: Any, chance: random.Random) -> list[Any]:
    """`one` before `other`, or at an end."""
    rest = [item for item in order if item is not one]
    place = next((n for n, item in enumerate(rest) if item is other), None)
    if place is None or chance.random() < 0.3:
        place = chance.choice((0, len(rest)))
    rest.insert(place, one)
    return rest


def _misplaced(made: set[Any] | frozenset[Any], wanted: list[Any]) -> list[Any]:
    if len(made) != len(wanted):
        raise Unfaithful("a set with elements that are equal")
    if all(map(operator.is_, made, wanted)):
        return []
    return [want for now, want in zip(made, wanted, strict=True) if now is not want]
