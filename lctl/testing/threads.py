"""Conversations that the server keeps: `previous_response_id` of OpenAI's Responses, Anthropic's `thread`,
`previous_interaction_id` of Google's interactions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from lctl.testing.faults import Fault
from lctl.testing.request import Request, Turn

#: Turns, and the tools that later requests need not say again.
Stored: TypeAlias = tuple[tuple[Turn, ...], tuple[dict[str, Any], ...]]


def continues(body: Mapping[str, Any]) -> Any:
    """The id of the answer that a request goes on from; None where it says all of its conversation."""
    thread = body.get("thread")
    if isinstance(thread, dict):
        return thread.get("previous_message_id")
    return body.get("previous_response_id") or body.get("previous_interaction_id")


def is_kept(request: Request) -> bool:
    if request.operation == "messages":
        return isinstance(request.body.get("thread"), dict)
    return request.operation in ("responses", "interactions") and bool(request.body.get("store", True))


def kept(request: Request, answer: Mapping[str, Any]) -> Stored:
    """What a later request goes on from. Instructions and tools of the Responses API are not carried over."""
    if request.operation == "messages":
        message = {"role": "assistant", "content": answer["content"]}
        said = Request(0, "", "", {}, {"messages": [message]}, b"", "", "messages")
        tools = request.offered or tuple(request.body.get("tools") or ())
        return request.turns + said.turns, tools
    steps = answer["steps"] if request.operation == "interactions" else answer["output"]
    said = Request(0, "", "", {}, {"input": steps}, b"", "", request.operation)
    return tuple(turn for turn in request.turns if turn.role != "system") + said.turns, ()


def not_found(request: Request, previous: Any) -> Fault:
    """How the provider refuses to go on from what it does not keep."""
    if request.operation == "messages":
        text = f"thread: no stored message with id {previous!r}"
        details = {"error_code": "thread_not_found"}
        return Fault(404, message=text, details=details)
    if request.operation == "interactions":
        return Fault(404, message=f"Interaction {previous} not found.")
    text = f"Previous response with id '{previous}' not found."
    return Fault(400, message=text, code="previous_response_not_found")
