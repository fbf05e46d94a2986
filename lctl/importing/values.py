"""Reading values of unknown shape: what is not of the expected kind is as if it were not there."""

from __future__ import annotations

from typing import Any

from lctl.spans.values import (
    as_json,
    dicts,
    function_call,
    items,
    mapping,
    real,
    said_number,
    text,
    tokens,
    whole,
)

__all__ = [
    "as_json",
    "dicts",
    "function_call",
    "items",
    "mapping",
    "real",
    "role_of",
    "said_number",
    "text",
    "tokens",
    "whole",
    "without",
]

#: Roles of other vocabularies.
_ROLES = {
    "human": "user", "prompter": "user", "user": "user",
    "assistant": "assistant", "ai": "assistant", "gpt": "assistant", "chatgpt": "assistant",
    "bot": "assistant", "model": "assistant", "bing": "assistant", "bard": "assistant", "claude": "assistant",
    "system": "system", "developer": "developer",
    "tool": "tool", "function": "tool", "observation": "tool", "tool_response": "tool", "ipython": "tool",
}  # fmt: skip


def role_of(word: object) -> str:
    """The role that a word of another vocabulary means; "" for one that means none."""
    return _ROLES.get(text(word).strip().lower(), "")


def without(value: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Its other keys that say something."""
    return {key: one for key, one in value.items() if key not in keys and one not in (None, "", [], {})}
