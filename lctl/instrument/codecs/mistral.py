"""Mistral's Conversations API: entries in, entries out, kept by the provider.

Entries become messages as Mistral's chat has them: what the model said, ran and asked for until it ended its
turn is one message of role "assistant" (calls of functions are its `tool_calls`; runs of the provider's own
tools and hand-offs stand in its content as they were), the result of a function is one of role "tool".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.conversation.items import gathered
from lctl.instrument.codecs.bodies import (
    is_event_stream,
    loads_or_none,
    objects,
)
from lctl.instrument.codecs.choices import append_part
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of, segment_after
from lctl.instrument.codecs.sse import read_stream
from lctl.instrument.codecs.usage import read_tokens

_NOT_PARAMS = frozenset({"inputs", "model", "tools", "instructions", "stream"})


class Mistral(DocumentCodec):
    """Codec of conversations: begun, gone on with, begun again from an entry."""

    provider = "mistral"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        begun, _, rest = path.rpartition("/conversations")
        if not begun or (rest and (rest.count("/") != 1 and not rest.endswith("/restart"))):
            return None
        return "conversations"

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        # OpenAI's paths are the same, and nothing of theirs asks a model: their bodies have `items`.
        said = document.get("inputs")
        if not isinstance(said, str | list):
            raise ValueError("a request to a conversation of Mistral's has 'inputs'")
        model = document.get("model")
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="llm",
            model=model if isinstance(model, str) else None,
            tools=document.get("tools") or None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=bool(document.get("stream")),
            # One that begins again from an entry is another conversation, of which the answer says the id.
            continues=None if path_of(url).endswith("/restart") else segment_after(url, "conversations"),
        )
        entries: list[Any] = [{"role": "user", "content": said}] if isinstance(said, str) else said
        request.messages, request.spans = _grouped(entries)
        instructions = document.get("instructions")
        if instructions:
            request.instructions = True
            request.messages.insert(0, {"role": "system", "content": instructions})
        return request

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if is_event_stream(headers, body):
            return _read_events(status, read_stream(body)[0])
        whole = loads_or_none(body)
        return _read_whole(whole) if isinstance(whole, dict) else ModelAnswer(complete=False)


# -- entries and messages ------------------------------------------------------------------


def _grouped(entries: list[Any]) -> tuple[list[dict[str, Any]], list[int]]:
    messages, spans = gathered(entries, _own_message)
    return [
        _assistant(message) if message.get("role") == "assistant" else message for message in messages
    ], spans


def _own_message(entry: Any) -> dict[str, Any] | None:
    """The message that an entry is by itself; None for one of the model's side."""
    if not isinstance(entry, dict):
        return {"role": "user", "content": entry}
    kind, role = entry.get("type"), entry.get("role")
    if kind == "function.result":
        return {"role": "tool", "tool_call_id": entry.get("tool_call_id"), "content": entry.get("result")}
    if kind in (None, "message.input") and role != "assistant":
        return {"role": str(role or "user"), "content": entry.get("content")}
    return None


def _assistant(run: dict[str, Any]) -> dict[str, Any]:
    """One message of what `gathered` put together."""
    content = run["content"]
    return said_by(content) if isinstance(content, list) else run


def said_by(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that these entries of the model are."""
    parts: list[Any] = []
    calls: list[dict[str, Any]] = []
    for entry in objects(entries):
        if entry.get("type") == "function.call":
            function = {"name": entry.get("name"), "arguments": entry.get("arguments")}
            calls.append({"id": entry.get("tool_call_id"), "type": "function", "function": function})
        elif entry.get("role") == "assistant" or entry.get("type") == "message.output":
            content = entry.get("content")
            given = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
            for part in given:
                append_part(parts, part)
        else:
            parts.append(entry)
    content = parts or None
    if len(parts) == 1 and isinstance(parts[0], dict) and set(parts[0]) == {"type", "text"}:
        content = parts[0]["text"]
    message: dict[str, Any] = {"role": "assistant", "content": content}
    return {**message, "tool_calls": calls} if calls else message


# -- answers -------------------------------------------------------------------------------


def _read_whole(whole: dict[str, Any]) -> ModelAnswer:
    outputs = objects(whole.get("outputs"))
    id, usage = whole.get("conversation_id"), whole.get("usage")
    answer = ModelAnswer(
        response_id=id if isinstance(id, str) else None,
        model=next((entry["model"] for entry in outputs if isinstance(entry.get("model"), str)), None),
        usage=usage if isinstance(usage, dict) else None,
        tokens=_tokens(usage),
    )
    if outputs:
        answer.messages = [said_by(outputs)]
        answer.finish_reasons = [None]
    return answer


def _tokens(usage: Any) -> dict[str, int] | None:
    """What the provider's tools gave the model to read is counted apart from the prompt."""
    tokens = read_tokens(usage)
    given = usage.get("connector_tokens") if isinstance(usage, dict) else None
    if tokens is not None and "input" in tokens and type(given) is int:
        tokens["input"] += given
    return tokens


def put_together(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The response that a stream says, as far as it came; with its counts, where it was ended."""
    whole: dict[str, Any] = {}
    entries: dict[tuple[Any, Any], dict[str, Any]] = {}
    for event in events:
        kind = str(event.get("type"))
        if kind == "conversation.response.started":
            whole["conversation_id"] = event.get("conversation_id")
        elif kind == "conversation.response.done":
            whole["usage"] = event.get("usage") or {}
        elif "id" in event and kind != "conversation.response.error":
            place = event.get("output_index"), event["id"]
            _add(entries.setdefault(place, {"type": _TYPES.get(kind, kind)}), kind, event)
    return {**whole, "outputs": list(entries.values())}


def _read_events(status: int, events: list[dict[str, Any]]) -> ModelAnswer:
    whole = put_together(events)
    failure = next((one for one in events if one.get("type") == "conversation.response.error"), None)
    answer = _read_whole(whole)
    answer.complete = "usage" in whole and failure is None
    answer.events = len(events)
    if failure is not None:
        code = failure.get("code")
        answer.error = {"status": status, "type": None, "code": code, "message": failure.get("message")}
    return answer


#: Of an event -> of the entry it tells.
_TYPES = {
    "message.output.delta": "message.output",
    "function.call.delta": "function.call",
    "tool.execution.started": "tool.execution",
    "tool.execution.delta": "tool.execution",
    "tool.execution.done": "tool.execution",
    "agent.handoff.started": "agent.handoff",
    "agent.handoff.done": "agent.handoff",
}
_PLACES = frozenset({"type", "output_index", "content_index", "content", "arguments", "created_at"})


def _add(entry: dict[str, Any], kind: str, event: dict[str, Any]) -> None:
    entry.update({key: value for key, value in event.items() if key not in _PLACES and value is not None})
    arguments, content = event.get("arguments"), event.get("content")
    if isinstance(arguments, str):
        entry["arguments"] = str(entry.get("arguments") or "") + arguments
    elif arguments is not None:
        entry["arguments"] = arguments
    if kind == "message.output.delta" and content is not None:
        part = {"type": "text", "text": content} if isinstance(content, str) else content
        append_part(entry.setdefault("content", []), part)
