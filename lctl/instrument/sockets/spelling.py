"""Messages of a WebSocket as lines of the tape have them, and back to what the program gets.

Sound and pictures in base64 stand apart: `{"bytes": 4800, "$sound": 9600}` is in their place, which says
where they begin in all the sound of the connection. Without `$sound` they are only counted; of what is sent
there is a `hash`.
"""

from __future__ import annotations

import base64
import json
from binascii import Error
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

import orjson

from lctl.instrument.codecs.bodies import loads_or_none
from lctl.instrument.codecs.live import size_of, with_sounds

#: What stands for sound, by its base64.
Keep = Callable[[str], "dict[str, Any] | str"]

#: Ways to spell JSON, beside the compact one.
_FORMS: dict[str, Callable[[Any], str]] = {
    "ascii": lambda value: json.dumps(value, separators=(",", ":")),
    "spaced": lambda value: json.dumps(value, ensure_ascii=False),
    "spaced_ascii": json.dumps,
    "indented": lambda value: json.dumps(value, indent=2),
}


class SoundMissing(Exception):
    """It was not kept."""


def event_of(message: str | bytes) -> dict[str, Any] | None:
    """The JSON object that a message is."""
    data = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
    event = loads_or_none(data)
    return event if isinstance(event, dict) else None


def line_of(way: str, message: str | bytes, event: dict[str, Any] | None, keep: Keep) -> dict[str, Any]:
    """The line of a message. `event`: as of `event_of`; `keep` has its sound."""
    line: dict[str, Any] = {}
    if event is None:
        if isinstance(message, str):
            return {way: message}
        return {way: keep(base64.b64encode(message).decode()), "as": "bytes"}
    line[way] = with_sounds(event, keep)
    form = _form_of(event, message)
    if form is None and line[way] == event:
        line = {way: message if isinstance(message, str) else message.decode(), "as": "json"}
    elif form:
        line["as"] = form
    if not isinstance(message, str):
        line["binary"] = True
    return line


def _form_of(event: dict[str, Any], message: str | bytes) -> str | None:
    """How it is spelled; "" for compactly, None for in no known way."""
    data = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
    if orjson.dumps(event) == data:
        return ""
    return next((name for name, spell in _FORMS.items() if spell(event).encode() == data), None)


def message_of(line: Mapping[str, Any], way: str, sound: Callable[[int, int], bytes]) -> str | bytes:
    """The message of a line. `sound`: (where it begins, its size).

    Raises:
        SoundMissing: it was counted, not kept.
    """
    told = line[way]
    if line.get("as") == "bytes":
        return base64.b64decode(_sounding(told, sound))
    if isinstance(told, str):
        text = told
    else:
        event = with_sounds(told, lambda one: one, lambda one: _sounding(one, sound))
        form = _FORMS.get(str(line.get("as")))
        text = orjson.dumps(event).decode() if form is None else form(event)
    return text.encode() if line.get("binary") else text


def _sounding(told: Any, sound: Callable[[int, int], bytes]) -> str:
    if isinstance(told, str):
        return told
    if "$sound" not in told:
        raise SoundMissing
    return base64.b64encode(sound(int(told["$sound"]), int(told["bytes"]))).decode()


def counted(sound: str) -> dict[str, Any]:
    """What stands for sound that is not kept."""
    return {"bytes": size_of(sound)}


def hashed(sound: str) -> dict[str, Any]:
    """What stands for sound that the program sends: a rerun knows whether it sends the same."""
    return {"bytes": size_of(sound), "hash": blake2b(sound.encode(), digest_size=8).hexdigest()}


def bytes_of(sound: str) -> bytes | None:
    """None of what is no base64, or not spelled as it usually is."""
    try:
        data = base64.b64decode(sound, validate=True)
    except (Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == sound else None
