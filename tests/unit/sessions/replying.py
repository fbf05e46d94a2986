"""Messages of reply chains."""

from __future__ import annotations

from typing import Any

HI = {"role": "assistant", "content": "Hi"}


def words(messages: list[dict[str, Any]]) -> list[Any]:
    return [one["content"] for one in messages]


def call(id: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
