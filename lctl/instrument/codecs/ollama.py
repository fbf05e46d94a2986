"""Ollama's own API: chat, generate, embeddings. A stream is a line of JSON for each piece."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs.bodies import loads_or_none, objects, read_error
from lctl.instrument.codecs.chat import as_message
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of

_OPERATIONS = {
    "/api/chat": "ollama.chat",
    "/api/generate": "ollama.generate",
    "/api/embed": "ollama.embed",
    "/api/embeddings": "ollama.embed",
}
_NOT_PARAMS = frozenset({"messages", "model", "tools", "stream", "prompt", "input", "system"})
_SUBJECTS = {"ollama.chat": "messages", "ollama.generate": "prompt", "ollama.embed": "input"}


class Ollama(DocumentCodec):
    """Codec of Ollama."""

    provider = "ollama"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        return _OPERATIONS.get(path[path.rfind("/api/") :])

    def conversation_key(self, operation: str) -> str | None:
        return "messages" if operation == "ollama.chat" else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        model, messages = document.get("model"), document.get("messages")
        # Many programs have an /api/chat of their own; theirs name no model.
        if not isinstance(model, str):
            raise ValueError("a request to Ollama names a 'model'")
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="embedding" if operation == "ollama.embed" else "llm",
            model=model,
            tools=document.get("tools") or None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=operation != "ollama.embed" and document.get("stream") is not False,
        )
        if operation == "ollama.chat":
            if not isinstance(messages, list):
                raise ValueError("a chat of Ollama has a list of 'messages'")
            request.messages = [as_message(message) for message in messages]
            return request
        subject = document.get(_SUBJECTS[operation], document.get("prompt"))
        if operation == "ollama.embed":
            request.input = subject
            return request
        if document.get("system"):
            request.instructions = True
            request.messages.append({"role": "system", "content": document["system"]})
        request.messages.append({"role": "user", "content": subject})
        return request

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        events = [event for line in body.split(b"\n") if isinstance(event := loads_or_none(line), dict)]
        if not events:
            return ModelAnswer(complete=False)
        if operation == "ollama.embed":
            return _embedded(events[0])
        answer = _read_events(events)
        if len(events) > 1:
            answer.events = len(events)
        failure = next((event for event in events if "error" in event), None)
        if failure is not None:
            answer.error, answer.complete = read_error(status, failure), False
        return answer


def _read_events(events: list[dict[str, Any]]) -> ModelAnswer:
    texts: dict[str, list[str]] = {"content": [], "thinking": []}
    calls: list[Any] = []
    other: dict[str, Any] = {}
    for event in events:
        message = event.get("message")
        said = message if isinstance(message, dict) else _generated(event)
        for key, value in said.items():
            if key in texts:
                texts[key].append(value if isinstance(value, str) else "")
            elif key == "tool_calls":
                calls += objects(value)
            elif value is not None:
                other[key] = value
    last = events[-1]
    whole = {**other, "role": other.get("role") or "assistant", "content": "".join(texts["content"])}
    if any(texts["thinking"]):
        whole["thinking"] = "".join(texts["thinking"])
    if calls:
        whole["tool_calls"] = calls
    done = last.get("done") is True
    reason = last.get("done_reason")
    answer = ModelAnswer(
        model=next((event["model"] for event in events if isinstance(event.get("model"), str)), None),
        messages=[whole],
        finish_reason=reason if isinstance(reason, str) else None,
        complete=done,
    )
    answer.finish_reasons = [answer.finish_reason]
    counts = {"input": last.get("prompt_eval_count"), "output": last.get("eval_count")}
    tokens = {name: count for name, count in counts.items() if type(count) is int}
    if tokens:
        answer.tokens = tokens
        keys = ("prompt_eval_count", "eval_count", "total_duration", "load_duration")
        answer.usage = {key: last[key] for key in keys if key in last}
    return answer


def _generated(event: dict[str, Any]) -> dict[str, Any]:
    """What /api/generate says, as a message would."""
    return {"content": event.get("response"), "thinking": event.get("thinking")}


def _embedded(whole: dict[str, Any]) -> ModelAnswer:
    one = whole.get("embedding")
    rows = whole.get("embeddings") if isinstance(whole.get("embeddings"), list) else [one] if one else []
    size = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    answer = ModelAnswer(model=whole.get("model"), embedding={"count": len(rows or ()), "dimensions": size})
    if type(whole.get("prompt_eval_count")) is int:
        answer.tokens = {"input": whole["prompt_eval_count"]}
    return answer
