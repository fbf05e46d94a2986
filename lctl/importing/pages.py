"""Pages, in which an API gives a list: one, several in a list, or a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl.importing.values import dicts, text

if TYPE_CHECKING:
    from lctl.importing.source import Source

#: What is in pages of what OpenAI stored. Those of messages are newest first, or last, which they do not say.
_STORED = frozenset({"chat.completion", "response"})


def listed(source: Source, *keys: str) -> list[dict[str, Any]]:
    """The items of a file: those a page has under one of these keys, else its rows."""
    found: list[dict[str, Any]] = []
    for row in source.rows:
        inner = (dicts(row.value.get(key)) for key in keys)
        found += next(filter(None, inner), [row.value])
    return found


def stored_calls(value: Any) -> list[dict[str, Any]]:
    """The answers in a page of those that OpenAI stored; [] of anything else."""
    if not isinstance(value, dict) or value.get("object") != "list":
        return []
    held = dicts(value.get("data"))
    return held if all(text(one.get("object")) in _STORED for one in held) else []
