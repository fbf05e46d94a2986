"""OpenAI's Responses API: items in, items out.

An item is smaller than a message. Consecutive items of the assistant's side (reasoning, its messages,
function calls, server tools) form one message of role "assistant" whose `content` is the list of items
as they were; a tool's output item is a message of role "tool".
"""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import objects, read_error
from lctl.instrument.codecs.chat import read_head
from lctl.instrument.codecs.items import StreamedItems
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

_NOT_PARAMS = frozenset({"input", "model", "tools", "instructions", "previous_response_id", "stream"})
_FINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})
_PLAIN_KEYS = frozenset({"type", "role", "content", "id", "status"})
_SUBJECTS = ("input", "prompt", "previous_response_id", "conversation")


def read_request(document: dict[str, Any], provider: str) -> ModelRequest:
    items = document.get("input")
    if not any(key in document for key in _SUBJECTS) or not isinstance(items, (str, list, type(None))):
        raise ValueError("a response has an 'input', a stored 'prompt', or goes on from another")
    model = document.get("model")
    request = ModelRequest(
        provider=provider,
        operation="responses",
        kind="llm",
        model=model if isinstance(model, str) else None,
        tools=document.get("tools") or None,
        params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
        stream=bool(document.get("stream")),
        continues=_continues(document),
    )
    if isinstance(items, str):
        request.messages = [{"role": "user", "content": items}]
    elif items:
        request.messages, request.spans = group(items)
    instructions = document.get("instructions")
    if instructions:
        request.instructions = True
        request.messages.insert(0, {"role": "system", "content": instructions})
    return request


def _continues(document: dict[str, Any]) -> str | None:
    previous = document.get("previous_response_id")
    if isinstance(previous, str):
        return previous
    stored = document.get("conversation")
    if isinstance(stored, dict):
        stored = stored.get("id")
    return stored if isinstance(stored, str) else None


# -- items -> messages ---------------------------------------------------------------------


def group(items: list[Any]) -> tuple[list[dict[str, Any]], list[int]]:
    """The messages of input items, and how many items each was made of."""
    messages: list[dict[str, Any]] = []
    spans: list[int] = []
    run: list[Any] = []
    for item in items:
        message = _own_message(item)
        if message is None:
            run.append(item)
            continue
        if run:
            messages.append(_assistant(run))
            spans.append(len(run))
            run = []
        messages.append(message)
        spans.append(1)
    if run:
        messages.append(_assistant(run))
        spans.append(len(run))
    return messages, spans


def _own_message(item: Any) -> dict[str, Any] | None:
    """The message that `item` is by itself; None for an item of the assistant's side."""
    if not isinstance(item, dict):
        return {"role": "user", "content": item}
    kind = item.get("type")
    role = item.get("role")
    if kind is None or kind == "message":
        if role == "assistant":
            return None
        return {**item, "role": role if isinstance(role, str) else "unknown"}
    if isinstance(kind, str) and kind.endswith("_output"):
        rest = {key: value for key, value in item.items() if key not in ("call_id", "output")}
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output"), **rest}
    if kind == "mcp_approval_response":
        return {"role": "user", "content": [item]}
    return None


def _assistant(run: list[Any]) -> dict[str, Any]:
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


# -- answers -----------------------------------------------------------------------------


def read_whole(whole: dict[str, Any]) -> ModelAnswer:
    answer = read_head(whole)
    status = whole.get("status")
    details = whole.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    answer.finish_reason = f"{status}:{reason}" if reason else status if isinstance(status, str) else None
    output = objects(whole.get("output"))
    if output:
        answer.messages = [_assistant(output)]
        answer.finish_reasons = [answer.finish_reason]
    if whole.get("error"):
        answer.error = read_error(200, whole)
    return answer


def read_events(events: list[dict[str, Any]], done: bool) -> ModelAnswer:
    first: dict[str, Any] | None = None
    final: dict[str, Any] | None = None
    for event in events:
        response = event.get("response")
        if isinstance(response, dict):
            first = first or response
            if str(event.get("type")) in _FINAL:
                final = response
    whole = final or first or {}
    if not whole.get("output"):  # cut, or a server that repeats nothing at the end
        whole = {**whole, "output": StreamedItems(events).items()}
    answer = read_whole(whole)
    answer.complete = final is not None
    answer.events = len(events)
    return answer
