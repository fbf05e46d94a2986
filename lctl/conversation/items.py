"""Items of OpenAI's Responses API and the messages they form.

An item is smaller than a message. Consecutive items of the assistant's side (reasoning, its messages,
function calls, server tools) form one message of role "assistant" whose `content` is the list of items
as they were; a tool's output item is a message of role "tool".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_PLAIN_KEYS = frozenset({"type", "role", "content", "id", "status"})


def group(items: list[Any]) -> tuple[list[dict[str, Any]], list[int]]:
    """The messages of input items, and how many items each was made of."""
    return gathered(items, own_message)


def gathered(
    items: list[Any], own: Callable[[Any], dict[str, Any] | None]
) -> tuple[list[dict[str, Any]], list[int]]:
    """The same for any items of which `own` says which are messages by themselves."""
    messages: list[dict[str, Any]] = []
    spans: list[int] = []
    run: list[Any] = []
    for item in items:
        message = own(item)
        if message is None:
            run.append(item)
            continue
        if run:
            messages.append(assistant(run))
            spans.append(len(run))
            run = []
        messages.append(message)
        spans.append(1)
    if run:
        messages.append(assistant(run))
        spans.append(len(run))
    return messages, spans


#: The type of a result whose `id` is that of its call.
_BY_ID = "local_shell_call_output"


def own_message(item: Any) -> dict[str, Any] | None:
    """The message that `item` is by itself; None for an item of the assistant's side."""
    if not isinstance(item, dict):
        return {"role": "user", "content": item}
    kind = item.get("type")
    role = item.get("role")
    if kind is None or kind == "message":
        if role == "assistant":
            return None
        return {**item, "role": role if isinstance(role, str) else "unknown"}
    if isinstance(kind, str) and kind.endswith("_output") and not _ran_there(item):
        rest = {key: value for key, value in item.items() if key not in ("call_id", "output")}
        call_id = item.get("id" if kind == _BY_ID and "call_id" not in item else "call_id")
        return {"role": "tool", "tool_call_id": call_id, "content": item.get("output"), **rest}
    if kind == "mcp_approval_response":
        return {"role": "user", "content": [item]}
    return None


def _ran_there(output: dict[str, Any]) -> bool:
    """Whether the provider ran what this is the output of: it came in an answer, and goes back in it."""
    kind = output["type"]
    if kind == "tool_search_output":
        return output.get("execution") == "server"
    return kind == "program_output" or (kind == "shell_call_output" and output.get("id") is not None)


def assistant(run: list[Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": _plain_text(run) if len(run) == 1 else run}


def _plain_text(run: list[Any]) -> Any:
    """The text itself where the only item is a message of one bare text, else the list."""
    item = run[0]
    if item.get("type", "message") != "message" or set(item) - _PLAIN_KEYS:
        return run
    content = item.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        part = content[0]
        bare = not any(value for key, value in part.items() if key not in ("type", "text"))
        if bare and part.get("type") == "output_text":
            content = part.get("text")
    return content if isinstance(content, str) else run


#: Item types beside those that end with "_call" and "_output".
_ITEMS = frozenset({"message", "reasoning", "item_reference", "mcp_list_tools", "mcp_approval_request"})


def is_item(value: Any) -> bool:
    """Whether it says of itself that it is an item of the Responses API."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and (
        kind in _ITEMS or kind.endswith(("_call", "_output")) or kind == "mcp_approval_response"
    )


def ungroup(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items that `group` makes these messages of."""
    items: list[dict[str, Any]] = []
    for message in messages:
        content = message.get("content")
        kind = message.get("type")
        if message.get("role") == "tool" and isinstance(kind, str) and kind.endswith("_output"):
            rest = {key: message[key] for key in message if key not in ("role", "tool_call_id", "content")}
            call_id = message.get("tool_call_id")
            is_id = kind == _BY_ID and call_id == message.get("id")
            items.append({**rest, **({} if is_id else {"call_id": call_id}), "output": content})
        elif isinstance(content, list) and content and _is_of_items(message):
            items += content
        else:
            items.append(message)
    return items


def _is_of_items(message: dict[str, Any]) -> bool:
    return message.get("role") == "assistant" and all(map(is_item, message["content"]))
