"""Messages in LangChain's words, as tracing tools write them down."""

from __future__ import annotations

from typing import Any

from lctl.spans.values import dicts, function_call, mapping, text

#: Parts of a content that say again, in the provider's words, what its tool calls say.
_CALLS = frozenset({"tool_use", "function_call"})


def fields_of(message: dict[str, Any]) -> dict[str, Any]:
    """The fields of a message, also of one that was serialized as a constructor."""
    return mapping(message.get("kwargs")) or mapping(message.get("data")) or message


def calls_of(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Its tool calls in OpenAI's form."""
    return [
        function_call(text(one.get("id")), text(one.get("name")), one["args"])
        for one in dicts(fields.get("tool_calls"))
        if "args" in one
    ]


def with_calls(message: dict[str, Any]) -> dict[str, Any]:
    """A message with a role whose tool calls may be LangChain's: with them in OpenAI's form, and once."""
    calls = calls_of(message)
    if not calls:
        return message
    return {**message, "content": beside_calls(message.get("content")), "tool_calls": calls}


def beside_calls(content: Any) -> Any:
    """A content without the parts that are calls of tools."""
    if not isinstance(content, list):
        return content
    return [part for part in content if text(mapping(part).get("type")) not in _CALLS]


def tool_result(value: Any) -> tuple[Any, str] | None:
    """(what it says, id of its call) of a tool's message; None of anything else."""
    fields = fields_of(mapping(value))
    if fields.get("type") != "tool" or not text(fields.get("tool_call_id")):
        return None
    return fields.get("content"), text(fields["tool_call_id"])


def are_arguments(given: Any, arguments: Any) -> bool:
    """Whether a tool's input says these arguments: the text of the only one, or Python's of them all."""
    if not isinstance(given, str) or not isinstance(arguments, dict):
        return False
    return given == str(arguments) or [given] == list(arguments.values())
