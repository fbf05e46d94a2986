"""A model's answer in words no provider owns, read from a response and written back into one.

    {"content": "...", "tool_calls": [{"id", "name", "input"}], "finish_reason": "stop", "model": "..."}

Whatever else the response says (ids, usage, reasoning, signatures) stays as recorded.
"""

from __future__ import annotations

from lctl.instrument.codecs import aws
from lctl.instrument.codecs import find as find_codec
from lctl.instrument.codecs.bodies import loads
from lctl.instrument.codecs.sse import read_stream
from lctl.patch import Unaddressed
from lctl.rerun.dialects import (
    chat,
    cohere,
    conversations,
    converse,
    google,
    interactions,
    messages,
    ollama,
    responses,
)
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole


def dialect(operation: str) -> Dialect:
    """Raises Unaddressed for an operation whose answer is no text."""
    found = _DIALECTS.get(operation)
    if found is None:
        raise Unaddressed(f"the answer of {operation} has no content; answer.body.PATH is its JSON")
    return found


def gathered(operation: str, body: bytes) -> Whole:
    """The whole response that a stream of events says.

    Raises:
        ValueError: it is no stream of this operation.
    """
    speaking = dialect(operation)
    if "amazon" in speaking.streamed_as:
        return speaking.gather([{"kind": kind, "event": event} for kind, event in aws.read_frames(body)])
    if "ndjson" in speaking.streamed_as:
        return speaking.gather([loads(line) for line in body.splitlines() if line.strip()])
    return speaking.gather(read_stream(body)[0])


def written(operation: str, whole: Whole, new: Answer, tag: str) -> Whole:
    """`whole` saying `new`. `tag` makes the ids of calls that have none."""
    speaking = dialect(operation)
    old = speaking.read(whole)
    unknown = set(new) - {"content", "tool_calls", "finish_reason", "model", "refusal", "reasoning"}
    if unknown:
        raise Unaddressed(
            f"an answer has no {', '.join(sorted(unknown))}; it has content, tool_calls, finish_reason, model"
        )
    calls = new.get("tool_calls") or []
    if not isinstance(calls, list) or not all(isinstance(one, dict) and one.get("name") for one in calls):
        raise Unaddressed('tool_calls is a list of {"name": ..., "input": {...}}')
    if new.get("finish_reason") == old.get("finish_reason") and bool(calls) != bool(old.get("tool_calls")):
        new = {**new, "finish_reason": "tool_calls" if calls else "stop"}
    return speaking.write(whole, old, new, tag)


def operation_of(url: str) -> str:
    """The model operation of a POST to `url`, "" for none."""
    found = find_codec("POST", url, {"anthropic-version": "*"})
    return found[1] if found is not None else ""


_DIALECTS = {
    "chat.completions": chat.DIALECT,
    "completions": chat.TEXT,
    "messages": messages.DIALECT,
    "responses": responses.DIALECT,
    "generate_content": google.DIALECT,
    "interactions": interactions.DIALECT,
    "cohere.chat": cohere.DIALECT,
    "ollama.chat": ollama.DIALECT,
    "converse": converse.DIALECT,
    "conversations": conversations.DIALECT,
}
