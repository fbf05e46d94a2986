"""A changed value written into the JSON text it was read from: bytes of what did not change stay.

A provider's prompt cache, a signature or a person comparing two requests sees the change and nothing else.
"""

from __future__ import annotations

import json
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from lctl.patch.changing import same

_BLANKS = " \t\r\n"
_decode = json.JSONDecoder().raw_decode


def rewrite(body: bytes, value: Any) -> bytes:
    """`body` saying `value` instead of what it says.

    Raises:
        ValueError: `body` is not JSON in UTF-8.
    """
    text = body.decode()
    start = _skip(text, 0)
    old, stop = _decode(text, start)
    style = _Style(text)
    return (text[:start] + _written(text, start, old, value, style) + text[stop:]).encode()


class _Style:
    """How the writer of a text writes JSON: blanks after `,` and `:`, and characters beyond ASCII."""

    def __init__(self, text: str) -> None:
        head = text[:2000]
        self._separators = (", " if '", "' in head or ', "' in head else ",", ": " if '": ' in head else ":")
        self._ascii = text.isascii() and "\\u" in text

    @property
    def comma(self) -> str:
        return self._separators[0]

    def dump(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self._ascii, separators=self._separators)

    def member(self, key: str, value: str) -> str:
        return self.dump(key) + self._separators[1] + value


def _written(text: str, start: int, old: Any, new: Any, style: _Style) -> str:
    """The text of `new`, which replaces `old` at `start`."""
    if same(old, new) and _ordered(old, new):
        return text[start : _decode(text, start)[1]]
    if isinstance(old, dict) and isinstance(new, dict):
        return _object(text, start, new, style)
    if isinstance(old, list) and isinstance(new, list):
        return _list(text, start, new, style)
    return style.dump(new)


def _ordered(old: Any, new: Any) -> bool:
    return not isinstance(old, dict) or list(old) == list(new)


def _object(text: str, start: int, new: dict[str, Any], style: _Style) -> str:
    members = _members(text, start)
    first: dict[str, tuple[int, int, Any]] = {}
    for key, at, value_at, value in members:
        first[key] = at, value_at, value
    if list(first) == list(new) and len(first) == len(members):  # nothing came or went: blanks stay, too
        parts, done = [], start
        for key, (_, value_at, value) in first.items():
            parts += [text[done:value_at], _written(text, value_at, value, new[key], style)]
            done = _decode(text, value_at)[1]
        return "".join(parts) + text[done : _decode(text, start)[1]]
    written = []
    for key, value in new.items():
        known = first.get(key)
        if known is None:
            written.append(style.member(key, style.dump(value)))
        else:
            at, value_at, old = known
            written.append(text[at:value_at] + _written(text, value_at, old, value, style))
    return "{" + style.comma.join(written) + "}"


def _list(text: str, start: int, new: list[Any], style: _Style) -> str:
    items = _items(text, start)
    if len(items) == len(new):
        parts, done = [], start
        for (at, old), value in zip(items, new, strict=True):
            parts += [text[done:at], _written(text, at, old, value, style)]
            done = _decode(text, at)[1]
        return "".join(parts) + text[done : _decode(text, start)[1]]
    written, left = [], list(items)
    for value in new:
        found = next((n for n, (_, old) in enumerate(left) if same(old, value)), None)
        if found is None:
            written.append(style.dump(value))
        else:
            at, _ = left[found]
            written.append(text[at : _decode(text, at)[1]])
            del left[: found + 1]
    return "[" + style.comma.join(written) + "]"


def _members(text: str, start: int) -> list[tuple[str, int, int, Any]]:
    """(key, where it stands, where its value stands, value) of an object's members."""
    found = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        begin = at
        key, at = scanstring(text, at + 1)
        at = _skip(text, _skip(text, at) + 1)
        value, stop = _decode(text, at)
        found.append((str(key), begin, at, value))
        at = _skip(text, stop)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _items(text: str, start: int) -> list[tuple[int, Any]]:
    found = []
    at = _skip(text, start + 1)
    while text[at] != "]":
        value, stop = _decode(text, at)
        found.append((at, value))
        at = _skip(text, stop)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS and at < len(text):
        at += 1
    return at
