"""Chunks of a chat completion's stream that add one text to the answer and nothing else: most of them."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.choices import PIECES

# What a delta adds to, beside lists; anything else of it takes the place of what was there.
_ADDED = frozenset({"content", "tool_calls", "function_call", "audio", *PIECES})


def only_text(event: dict[str, Any]) -> str | None:
    """The text that a chunk adds to its answer, if it adds nothing else (what later chunks replace adds
    nothing)."""
    choices = event.get("choices")
    if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
        return None
    delta = choices[0].get("delta")
    if type(delta) is not dict:
        return None
    added = [key for key, value in delta.items() if value and (key in _ADDED or type(value) is list)]
    if len(added) != 1:
        return None
    [key] = added
    value = delta[key]
    if type(value) is list and len(value) == 1:
        value = value[0]
    if key == "tool_calls" and type(value) is dict:
        is_one = value.get("index") is not None and "custom" not in value
        value = value.get("function") if is_one else None
    if type(value) is dict:
        if key in ("tool_calls", "function_call"):
            value = value.get("arguments")
        elif key == "content" and value.keys() == {"type", "text"}:
            value = value["text"]
    return value if type(value) is str else None
