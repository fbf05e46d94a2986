"""Events out of a JSON document that does not parse as a whole: cut off, or damaged at one place; and of a
journal whose first line is damaged."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from lctl.codec.bytesource import Bytes
from lctl.codec.journal import Layout, ending, meaningful

_BLANK = re.compile(r"[ \t\r\n\0]*")
_decode = json.JSONDecoder().raw_decode
# A header is hardly ever longer.
_HEADER = 1 << 16
_NEXT_EVENT = b'\n{"seq":'


class Salvage(NamedTuple):
    """What could be read before the damage.

    `document` holds the top-level keys read whole (None of a bare list of events), `events` the whole
    events, `offsets` where in the text each began. `whole` is False when the text ended or broke before the
    document did.
    """

    document: dict[str, Any] | None
    events: list[Any]
    offsets: list[int]
    whole: bool


def salvage(text: str) -> Salvage | None:
    """Reads the document key by key and its events one by one, as far as they go.

    None when the text is not even the beginning of a log: neither an object nor a list, or no event and no
    key of the format read.
    """
    at = _skip(text, 0)
    document: dict[str, Any] = {}
    mark = text[at : at + 1]
    if mark not in ("{", "["):
        return None
    found = Salvage(document if mark == "{" else None, [], [], False)
    try:
        at = _members(text, at + 1, document, found) if mark == "{" else _elements(text, at + 1, found)
    except (ValueError, RecursionError, TypeError):
        at = -1
    if not found.events and not document.keys() & {"lctl", "chain"}:
        return None
    return found._replace(whole=at >= 0 and _skip(text, at) == len(text))


def headless(data: Bytes) -> Layout | None:
    """The layout of the event lines below a first line that nobody can read; None where there are none."""
    size = meaningful(data)
    before = data.read(0, min(_HEADER, size)).find(_NEXT_EVENT)
    return None if before < 0 else ending(data, {}, before + 1, size)


def _members(text: str, at: int, document: dict[str, Any], found: Salvage) -> int:
    """Fills `document` and `found` with the members of an object, the first one at `at`; where it ended.

    Raises ValueError, RecursionError or TypeError where something cannot be read.
    """
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return at + 1
        key, at = _decode(text, at)
        at = _after(text, at, ":")
        if key == "events" and text[at : at + 1] == "[":
            at = _elements(text, at + 1, found)
        else:
            document[key], at = _decode(text, at)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at += 1


def _elements(text: str, at: int, found: Salvage) -> int:
    """The same for the elements of `events`."""
    while True:
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            return at + 1
        if text[at : at + 1] == ",":
            at += 1
            continue
        value, end = _decode(text, at)
        found.events.append(value)
        found.offsets.append(at)
        at = end


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _after(text: str, at: int, mark: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != mark:
        raise ValueError(f"no {mark!r} at {at}")
    return _skip(text, at + 1)
