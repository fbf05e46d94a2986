"""Reading values of unknown shape: what is not of the expected kind is as if it were not there.

Other writers' logs hold anything. A value out of an event's data goes through one of these before it is
looked up in a set or a dict, before its keys are asked for, and before it is gone through.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from operator import index
from typing import Any, SupportsIndex

import orjson

#: Of the longest number that is believed in a text.
_DIGITS = 20
_LONG = re.compile(r"[0-9]{19}").search


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in items(value) if isinstance(one, dict)]


def texts(value: object) -> list[str]:
    return [one for one in items(value) if isinstance(one, str)]


def index_number(value: object) -> int | None:
    """What Python takes as the index of a list, a data frame's numbers among it; None where it is none."""
    try:
        return index(value) if isinstance(value, SupportsIndex) else None
    except TypeError:  # an array of several
        return None


def whole_number(value: object) -> int | None:
    """A count: a whole number from 0, which some write as `10.0`; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
        return None
    return int(value) if value == int(value) else None


def real(value: object) -> float | None:
    """A number as a float; None where it is none, not finite, or beyond floats, as a log's may be."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def said_number(value: object) -> int | None:
    """The whole number that a text says in digits, of no more than a count of nanoseconds has; None of
    anything else."""
    said = text(value).strip()
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _DIGITS else None


def whole(value: object) -> int:
    """A count; 0 where it is none."""
    return whole_number(value) or 0


#: The largest count that is believed.
MOST = 10**12


def number_of(value: dict[str, Any]) -> int | float | None:
    """The number that a log has as `{"$int": digits}` or `{"$float": name}`, for want of one in JSON:
    past 64 bits, not finite. None of any other object."""
    if len(value) != 1:
        return None
    kind, said = next(iter(value.items()))
    if kind == "$int" and isinstance(said, str):
        try:
            number = int(said, 16 if "x" in said else 10)
        except ValueError:  # no number, or of more digits than Python takes
            return None
        return None if -(1 << 63) <= number < 1 << 64 else number
    return float(said) if kind == "$float" and said in ("nan", "inf", "-inf") else None


def loads(text: str) -> Any:
    """A JSON text's value. An integer past 64 bits is as a log has it (see `number_of`): orjson would make it
    a float, which is another number.

    Raises:
        ValueError: it is no JSON.
    """
    value = orjson.loads(text)
    return value if _LONG(text) is None else json.loads(text, parse_int=_integer)


def _integer(digits: str) -> int | dict[str, str]:
    number = int(digits) if len(digits) <= 20 else None
    return {"$int": digits} if number is None or not -(1 << 63) <= number < 1 << 64 else number


def with_numbers(value: Any) -> Any:
    """A value out of a log with such numbers as Python has them; the same object where there are none."""
    if isinstance(value, dict):
        number = number_of(value)
        if number is not None:
            return number
        changed = {key: new for key, old in value.items() if (new := with_numbers(old)) is not old}
        return {**value, **changed} if changed else value
    if isinstance(value, list):
        made = [with_numbers(one) for one in value]
        return made if any(new is not old for new, old in zip(made, value, strict=True)) else value
    return value
