"""Characters that a server cut in two: half of a surrogate pair ends the text of one event of a stream, the
other half begins the next one's. Servers do that which count characters as JavaScript does."""

from __future__ import annotations

import json
from typing import Any

import orjson

from lctl.instrument.codecs.bodies import within_floats, without_constants
from lctl.interrupts import let_through

#: What tells apart the texts of one event, and of events that take turns.
_INDEXES = ("index", "output_index", "content_index", "summary_index")


def holds_half(data: bytes) -> bool:
    """Whether JSON that orjson refuses may be of this kind."""
    return b"\\ud" in data or b"\\uD" in data


def read_with_halves(data: bytes) -> Any:
    """The JSON value with such halves as they are; None of what is no JSON."""
    try:
        return json.loads(
            data.decode("utf-8", "replace"), parse_constant=without_constants, parse_float=within_floats
        )
    except (ValueError, RecursionError) as error:
        let_through(error)
        return None


def joined(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events with each such character whole, in the one that ended it; half of one alone is a "?"."""
    open: dict[tuple[Any, ...], str] = {}

    def walk(value: Any, place: tuple[Any, ...]) -> Any:
        if isinstance(value, str):
            text = open.pop(place, "") + value
            if text and "\ud800" <= text[-1] <= "\udbff":
                open[place] = text[-1]
                text = text[:-1]
            pairs = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            return pairs.encode("utf-8", "replace").decode()
        if isinstance(value, dict):
            place = (*place, *(str(value.get(name)) for name in _INDEXES))
            return {key: walk(one, (*place, key)) for key, one in value.items()}
        if isinstance(value, list):
            return [walk(one, place) for one in value]
        return value

    found = [walk(event, ()) for event in events]
    return [orjson.loads(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace")) for event in found]
