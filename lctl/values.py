"""Reading values of unknown shape: what is not of the expected kind is as if it were not there.

Other writers' logs hold anything. A value out of an event's data goes through one of these before it is
looked up in a set or a dict, before its keys are asked for, and before it is gone through.
"""

from __future__ import annotations

from operator import index
from typing import Any, SupportsIndex


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


def whole(value: object) -> int:
    """A count; 0 where it is none."""
    return whole_number(value) or 0


#: The largest count that is believed.
MOST = 10**12
