"""Messages as a provider takes them: finished ones, each tool call with its result right after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from lctl.conversation.node import Node
from lctl.conversation.restoring import sendable
from lctl.errors import UsageError
from lctl.state.messages import tool_calls_of, tool_results_of

Repair = Literal["truncate", "synthesize"]
MISSING = "[no result: the call was not finished]"


def complete(nodes: Iterable[Node], repair: Repair | None, partial: bool = False) -> list[dict[str, Any]]:
    """The messages of a path that may be sent.

    Args:
        partial: also those that are streamed, were aborted or failed. Results of tools that a message left
            out asked for are left out with it.

    Raises:
        UsageError: a call has no result, or a result no call, and `repair` is None; the log does not hold
            all of a message's content.
    """
    if repair not in (None, "truncate", "synthesize"):
        raise UsageError(f"repair is 'truncate' or 'synthesize', not {repair!r}")
    messages: list[dict[str, Any]] = []
    left_out: set[Any] = set()  # calls of messages that are left out
    asked: dict[Any, str | None] = {}  # calls that wait for their results -> name of the tool
    asker = -1  # index of the message that made them
    for node in nodes:
        message = node.message
        if not node.role or (node.status != "complete" and not partial):
            left_out |= {call["id"] for call in tool_calls_of(message)}
            continue
        results = [result["call_id"] for result in tool_results_of(message)]
        if results and left_out.issuperset(results):
            continue
        if asked and not asked.keys() & set(results):
            if not _settle(messages, asker, asked, repair):
                return messages
            asked = {}
        strange = [call for call in results if call not in asked and not _own_result(message, call)]
        if strange:
            if repair is None:
                raise UsageError(_stray(node, strange[0]))
            if repair == "truncate":
                return messages
            continue
        for call in results:
            asked.pop(call, None)
        calls = {call["id"]: call["name"] for call in tool_calls_of(message)}
        calls = {id: name for id, name in calls.items() if id not in results}
        if calls and node.role == "assistant":
            asked, asker = dict(calls), len(messages)
        messages.append(sendable(node, message))
    if asked:
        _settle(messages, asker, asked, repair)
    return messages


def _settle(
    messages: list[dict[str, Any]], asker: int, asked: Mapping[Any, str | None], repair: Repair | None
) -> bool:
    """Do what `repair` says about calls without results; False where the messages end there."""
    if repair is None:
        call, name = next(iter(asked.items()))
        raise UsageError(
            f"message {asker + 1} of the path asks for {name or 'a tool'} ({call}), which has no result; "
            "repair='truncate' ends before it, repair='synthesize' puts a result in its place"
        )
    if repair == "truncate":
        del messages[asker:]
        return False
    content = messages[asker].get("content")
    if isinstance(content, list) and any(_is(part, "tool_use") for part in content):
        parts = [
            {"type": "tool_result", "tool_use_id": call, "content": MISSING, "is_error": True}
            for call in asked
        ]
        after = messages[asker + 1 :]
        if after and isinstance(after[0].get("content"), list):
            after[0]["content"] += parts
        else:
            messages.insert(asker + 1, {"role": "user", "content": parts})
    elif isinstance(content, list) and any(_is(part, "function_call") for part in content):
        messages += [{"type": "function_call_output", "call_id": call, "output": MISSING} for call in asked]
    else:
        messages += [{"role": "tool", "tool_call_id": call, "content": MISSING} for call in asked]
    return True


def _stray(node: Node, call: Any) -> str:
    return (
        f"message {node.id} is the result of {call}, which no message right before it asks for; "
        "repair='truncate' ends before it, repair='synthesize' leaves it out"
    )


def _own_result(message: Mapping[str, Any], call: Any) -> bool:
    """A tool that the provider ran itself: call and result are in one message."""
    return any(own["id"] == call for own in tool_calls_of(message))


def _is(part: Any, kind: str) -> bool:
    return isinstance(part, Mapping) and part.get("type") == kind
