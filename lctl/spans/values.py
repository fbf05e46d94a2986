"""Values of unknown shape, read and written in the forms of others."""

from __future__ import annotations

from typing import Any

from lctl.codec.lines import encode_value
from lctl.values import dicts, items, mapping, real, said_number, text, whole


def as_json(value: object) -> str:
    """Text as it is; anything else as JSON."""
    return value if isinstance(value, str) else encode_value(value, default=str).decode()


def function_call(id: str, name: str, arguments: object) -> dict[str, Any]:
    """A tool call in OpenAI's form."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": as_json(arguments)}}


def tokens(**counts: object) -> dict[str, int] | None:
    """Token counts that are there; None where none is."""
    found = {name: whole(value) for name, value in counts.items() if isinstance(value, int | float)}
    return found or None


__all__ = [
    "as_json",
    "dicts",
    "function_call",
    "items",
    "mapping",
    "real",
    "said_number",
    "text",
    "tokens",
    "whole",
]
