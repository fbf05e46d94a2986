"""What the dialects share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import orjson

from lctl.patch.changing import same

Answer = dict[str, Any]
Whole = dict[str, Any]

#: What ended an answer, in each dialect's word.
_REASONS = {
    "chat": {"max_tokens": "length", "max_output_tokens": "length", "tool_use": "tool_calls",
             "end_turn": "stop", "completed": "stop", "refusal": "content_filter"},
    "messages": {"length": "max_tokens", "max_output_tokens": "max_tokens", "tool_calls": "tool_use",
                 "stop": "end_turn", "completed": "end_turn", "content_filter": "refusal"},
    "responses": {"length": "max_output_tokens", "max_tokens": "max_output_tokens"},
    "google": {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "max_tokens": "MAX_TOKENS",
               "content_filter": "SAFETY", "refusal": "SAFETY"},
    "interactions": {"stop": "completed", "tool_calls": "requires_action", "length": "incomplete",
                     "max_tokens": "incomplete", "max_output_tokens": "incomplete"},
    "cohere": {"stop": "COMPLETE", "tool_calls": "TOOL_CALL", "length": "MAX_TOKENS",
               "max_tokens": "MAX_TOKENS"},
    "converse": {"stop": "end_turn", "completed": "end_turn", "tool_calls": "tool_use",
                 "length": "max_tokens", "max_output_tokens": "max_tokens",
                 "content_filter": "content_filtered", "refusal": "content_filtered"},
    "ollama": {"tool_calls": "stop", "max_tokens": "length"},
}  # fmt: skip


class Dialect(NamedTuple):
    """How one API writes answers. `made` is the response that says nothing yet, for (model, tag);
    `stream`: a response in the pieces in which the network would bring it (counted: with its usage)."""

    made: Callable[[str, str], Whole]
    read: Callable[[Whole], Answer]
    write: Callable[[Whole, Answer, Answer, str], Whole]
    gather: Callable[[list[dict[str, Any]]], Whole]
    stream: Callable[[Whole, bool], Iterator[bytes]]
    streamed_as: str = "text/event-stream; charset=utf-8"


def reason_in(kind: str, reason: Any) -> Any:
    return _REASONS[kind].get(reason, reason) if isinstance(reason, str) else reason


def loaded(arguments: Any) -> Any:
    try:
        return orjson.loads(arguments)
    except (orjson.JSONDecodeError, TypeError):
        return arguments


def dumped(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def rewritten(
    old: list[Answer], new: Any, raw: list[Any], make: Callable[[Answer, int, Any], Any]
) -> list[Any]:
    """Tool calls as written: those that are as before stay as they were to the letter."""
    found = []
    for n, call in enumerate(new or []):
        before = raw[n] if n < len(raw) else None
        found.append(before if n < len(old) and same(old[n], call) else make(call, n, before))
    return found


def cut(text: Any) -> list[str]:
    """A text in the pieces of a stream: words with the blanks before them."""
    return re.findall(r"\s*\S+|\s+$", text) if isinstance(text, str) else []


def sse(data: dict[str, Any], name: str = "") -> bytes:
    """A server-sent event."""
    head = f"event: {name}\n" if name else ""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"{head}data: {text}\n\n".encode()
