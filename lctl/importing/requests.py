"""What a model call read and gave, where a tracing tool keeps request and answer much as they were."""

from __future__ import annotations

from typing import Any

from lctl.importing.values import dicts, mapping
from lctl.spans.langchain import with_calls
from lctl.spans.messages import value_of
from lctl.spans.turns import are_items, of_items

Messages = list[dict[str, Any]]
#: What a message has beside its role.
_SAID = frozenset({"content", "tool_calls", "function_call"})


def messages_in(value: Any, role: str) -> Messages | None:
    """The messages that a request or an answer has; None where it has none that can be read.

    Args:
        value: text, a message, a list of such or of items of the Responses API, or what holds one of these.
        role: of a text.
    """
    value = value_of(value)
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else None
    if isinstance(value, dict):
        return _of_object(value, role)
    listed = dicts(value)
    if are_items(listed):
        return of_items(listed)
    has_roles = bool(listed) and all(isinstance(message.get("role"), str) for message in listed)
    return [with_calls(message) for message in listed] if has_roles else None


def _of_object(value: dict[str, Any], role: str) -> Messages | None:
    if are_items([value]):
        return of_items([value])
    if isinstance(value.get("role"), str) and not _SAID.isdisjoint(value):
        return [with_calls(value)]
    for key in ("messages", "message"):
        inner = value.get(key)
        listed = dicts(inner) or ([inner] if isinstance(inner, dict) else [])
        if listed and all(isinstance(message.get("role"), str) for message in listed):
            return [*_instructions(value), *listed]
    for key in ("input", "output"):
        found = messages_in(value[key], role) if value.get(key) and not mapping(value[key]) else None
        if found:
            return [*_instructions(value), *found] if key == "input" else found
    choices = [mapping(choice.get("message")) for choice in dicts(value.get("choices"))]
    return choices if choices and all("role" in message for message in choices) else None


def _instructions(request: dict[str, Any]) -> Messages:
    """What stands beside the messages of a request, at Anthropic and in the Responses API."""
    said = request.get("system") or request.get("instructions")
    return [{"role": "system", "content": said}] if isinstance(said, str | list) and said else []
