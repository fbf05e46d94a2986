"""Reading values of unknown shape: what is not of the expected kind is as if it were not there."""

from __future__ import annotations

from typing import Any

import orjson


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in items(value) if isinstance(one, dict)]


def whole(value: object) -> int:
    """A count; 0 where it is none."""
    return (
        int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
        else 0
    )


def as_json(value: object) -> str:
    """Text as it is; anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):
        return str(value)


def function_call(id: str, name: str, arguments: object) -> dict[str, Any]:
    """A tool call in OpenAI's form."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": as_json(arguments)}}


def tokens(**counts: object) -> dict[str, int] | None:
    """Token counts that are there; None where none is."""
    found = {name: whole(value) for name, value in counts.items() if isinstance(value, int | float)}
    return found or None
