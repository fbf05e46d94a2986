"""What a model gives in one turn as one message, where it is told in items: so the Responses API has it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from lctl.spans.values import dicts, function_call, items, text

Messages = list[dict[str, Any]]

#: How ids of the Responses API's items begin that are calls of functions.
_ITEM = "fc_"


def joined(messages: Messages, *, in_items: bool) -> Messages:
    """The messages, those of one turn made one.

    Args:
        in_items: each item of a turn is a message. Where that is not known, a message that only calls tools
            belongs to the assistant's one before it all the same: elsewhere results would stand between.
    """
    found: Messages = []
    for message in messages:
        if found and _is_same_turn(found[-1], message, in_items):
            found[-1] = _together(found[-1], message)
        else:
            found.append(message)
    return found


def with_ids_of_calls(messages: Messages) -> Messages:
    """The messages, each result with the id that its call has there.

    OpenLLMetry tells a call of the Responses API by the id of its item, its result by that of the call: they
    are matched by their order.
    """
    waiting: list[str] = []
    known: set[str] = set()
    found: Messages = []
    for message in messages:
        asked = [text(one.get("id")) for one in dicts(message.get("tool_calls"))]
        known.update(asked)
        waiting += [id for id in asked if id.startswith(_ITEM)]
        answered = text(message.get("tool_call_id"))
        if message.get("role") == "tool" and answered and answered not in known and waiting:
            message = {**message, "tool_call_id": waiting.pop(0)}
        elif answered in waiting:
            waiting.remove(answered)
        found.append(message)
    return found


def has_turns_in_pieces(messages: Messages) -> bool:
    pairs = pairwise(messages)
    return any(one.get("role") == other.get("role") == "assistant" for one, other in pairs)


def are_items(listed: Messages) -> bool:
    """Whether these are items of the Responses API, which has calls, results and thoughts, too."""
    kinds = [text(one.get("type")) for one in listed if not isinstance(one.get("role"), str)]
    return (
        bool(listed) and all(kinds) and (bool(kinds) or all(one.get("type") == "message" for one in listed))
    )


def of_items(listed: Messages) -> Messages:
    """Items of the Responses API as messages in OpenAI's older form."""
    return joined([message for one in listed for message in _of_item(one)], in_items=True)


def _of_item(item: dict[str, Any]) -> Messages:
    match item.get("type"):
        case "function_call":
            call = function_call(text(item.get("call_id")), text(item.get("name")), item.get("arguments", ""))
            return [{"role": "assistant", "content": None, "tool_calls": [call]}]
        case "function_call_output":
            said = {"tool_call_id": text(item.get("call_id")), "content": item.get("output")}
            return [{"role": "tool", **said}]
        case "reasoning" if not item.get("summary") and not item.get("content"):
            return []
        case _ if isinstance(item.get("role"), str):
            return [{"role": item["role"], "content": _content(item.get("content"))}]
    return [{"role": "assistant", "content": [item]}]


def _content(content: Any) -> Any:
    parts = dicts(content)
    is_answer = bool(parts) and all(part.get("type") == "output_text" for part in parts)
    return "".join(text(part.get("text")) for part in parts) if is_answer else content


def _is_same_turn(before: dict[str, Any], message: dict[str, Any], in_items: bool) -> bool:
    if not before.get("role") == message.get("role") == "assistant":
        return False
    return in_items or (bool(message.get("tool_calls")) and not message.get("content"))


def _together(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    made = {**one, **other, "content": _added(one.get("content"), other.get("content"))}
    calls = [*items(one.get("tool_calls")), *items(other.get("tool_calls"))]
    return {**made, "tool_calls": calls} if calls else made


def _added(one: Any, other: Any) -> Any:
    if not one or not other:
        return one or other
    return [*_parts(one), *_parts(other)]


def _parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]
