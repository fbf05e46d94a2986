"""Arguments of tool calls as the model wrote them, and prompts that spell them otherwise.

A program that parses arguments and dumps them again sends back the same value in other characters. That is
the same message (see `identity`), but not the same tokens: what is trained on it is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: Calls that are kept in mind.
_MOST = 4096


class Spelling:
    """By the call's id a hash of its arguments' text; dialects whose arguments are no text have none."""

    __slots__ = ("_texts",)

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}

    def learn(self, message: dict[str, Any]) -> None:
        """A message that a model wrote."""
        for id, text in _arguments(message):
            if len(self._texts) >= _MOST:
                del self._texts[next(iter(self._texts))]
            self._texts[id] = hash(text)

    def changed(self, messages: list[dict[str, Any]]) -> list[str]:
        """Ids of calls in a prompt whose arguments are spelled otherwise."""
        texts = self._texts
        if not texts:
            return []
        return [
            id
            for message in messages
            if message.get("role") == "assistant"
            for id, text in _arguments(message)
            if texts.get(id, hash(text)) != hash(text)
        ]


def _arguments(message: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(id of a call, the text of its arguments)"""
    calls, content = message.get("tool_calls"), message.get("content")
    for call in calls if isinstance(calls, list) else ():
        inner = call.get("function") if isinstance(call, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("arguments"), str):
            yield str(call.get("id")), inner["arguments"]
    for item in content if isinstance(content, list) else ():
        if isinstance(item, dict) and isinstance(item.get("arguments"), str):
            yield str(item.get("call_id")), item["arguments"]
