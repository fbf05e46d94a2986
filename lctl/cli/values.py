"""A payload for reading: keys and values over lines, nothing in it that drives a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.analysis.wording import block, plain
from lctl.cli.text import wrap

_DEEPEST = 40


def value_lines(value: Any, room: int = 10_000, *, depth: int = 0) -> Iterator[str]:
    """Lines of a JSON value, YAML-like: `key: value`, nested values two blanks further in."""
    if isinstance(value, dict) and value and depth < _DEEPEST:
        for key, inner in value.items():
            yield from _entry(f"{plain(str(key))}:", inner, room, depth)
    elif isinstance(value, list) and value and depth < _DEEPEST:
        for inner in value:
            yield from _entry("-", inner, room, depth)
    else:
        yield from _text(value, room)


def _entry(label: str, value: Any, room: int, depth: int) -> Iterator[str]:
    is_nested = isinstance(value, (dict, list))
    short = _short(value, room - len(label) - 1) if is_nested else ""
    if is_nested and not short:
        yield label
        for line in value_lines(value, max(room - 2, 20), depth=depth + 1):
            yield "  " + line
        return
    if is_nested:
        yield f"{label} {short}"
        return
    lines = list(_text(value, room - len(label) - 1))
    if len(lines) == 1:
        yield f"{label} {lines[0]}"
        return
    yield label
    for line in _text(value, max(room - 2, 20)):
        yield "  " + line


def _short(value: Any, room: int) -> str:
    """A small nested value on one line, "" when it is not small."""
    text = plain(value)
    return text if len(text) <= min(room, 72) else ""


def _text(value: Any, room: int) -> Iterator[str]:
    if isinstance(value, str):
        yield from wrap(block(value), max(room, 20)) if value else ['""']
    else:
        yield plain(value)
