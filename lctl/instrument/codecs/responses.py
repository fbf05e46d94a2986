"""OpenAI's Responses API: items in, items out.

An item is smaller than a message. Consecutive items of the assistant's side (reasoning, its messages,
function calls, server tools) form one message of role "assistant" whose `content` is the list of items
as they were; a tool's output item is a message of role "tool".
"""

from __future__ import annotations

from typing import Any

from lctl.conversation.items import assistant, group
from lctl.instrument.codecs.bodies import objects, read_error
from lctl.instrument.codecs.chat import read_head
from lctl.instrument.codecs.items import StreamedItems
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

_NOT_PARAMS = frozenset({"input", "model", "tools", "instructions", "previous_response_id", "stream"})
_FINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.done"})
#: What a response, or a prediction of Replicate's, says of itself while it goes on in the background.
UNDER_WAY = frozenset({"queued", "in_progress", "starting", "processing"})
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


def read_decision_request(document: dict[str, Any], provider: str) -> ModelRequest:
    """Questions about a text or a conversation, each of which the model answers by a number or a choice."""
    if not isinstance(document.get("questions"), list):
        raise ValueError("a decision has 'questions'")
    return read_request(document, provider)


# -- answers -----------------------------------------------------------------------------


def read_whole(whole: dict[str, Any]) -> ModelAnswer:
    answer = read_head(whole)
    status = whole.get("status")
    details = whole.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    answer.finish_reason = f"{status}:{reason}" if reason else status if isinstance(status, str) else None
    output = objects(whole.get("output"))
    if output:
        answer.messages = [assistant(output)]
        answer.finish_reasons = [answer.finish_reason]
    searches = sum(map(_is_search, output))
    if searches and answer.tokens is not None:
        answer.tokens["web_searches"] = searches
    if whole.get("error"):
        answer.error = read_error(200, whole)
    return answer


def _is_search(item: dict[str, Any]) -> bool:
    """A search of OpenAI's, which has a price; to open a page that it found has none."""
    action = item.get("action")
    kind = action.get("type") if isinstance(action, dict) else None
    return item.get("type") == "web_search_call" and kind in (None, "search")


def read_decision(whole: dict[str, Any]) -> ModelAnswer:
    answer = read_head(whole)
    answers = objects(whole.get("answers"))
    if answers:
        answer.messages, answer.finish_reasons = [{"role": "assistant", "content": answers}], [None]
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
    if final is None and answer.finish_reason == "in_progress":  # as it began
        answer.finish_reason, answer.finish_reasons = None, [None for _ in answer.finish_reasons]
    answer.events = len(events)
    return answer
