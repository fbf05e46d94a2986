"""Cohere's chat, version 2, and its embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs.bodies import is_event_stream, loads_or_none
from lctl.instrument.codecs.chat import as_message
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.sse import read_stream

_OPERATIONS = {"/v2/chat": "cohere.chat", "/v2/embed": "cohere.embed"}
_NOT_PARAMS = frozenset({"messages", "model", "tools", "stream", "texts", "images", "inputs"})


class Cohere(DocumentCodec):
    """Codec of Cohere."""

    provider = "cohere"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        return _OPERATIONS.get(path[path.rfind("/v2/") :])

    def conversation_key(self, operation: str) -> str | None:
        return "messages" if operation == "cohere.chat" else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        model, messages = document.get("model"), document.get("messages")
        embeds = operation == "cohere.embed"
        if not isinstance(model, str) or not (embeds or isinstance(messages, list)):
            raise ValueError("a request to Cohere has a 'model', and a chat a list of 'messages'")
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="embedding" if embeds else "llm",
            model=model,
            tools=document.get("tools") or None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=bool(document.get("stream")),
        )
        if embeds:
            request.input = document.get("texts") or document.get("inputs") or document.get("images")
        else:
            request.messages = [as_message(message) for message in messages or ()]
        return request

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if is_event_stream(headers, body):
            return _read_events(read_stream(body)[0])
        whole = loads_or_none(body)
        if not isinstance(whole, dict):
            return ModelAnswer(complete=False)
        return read_embedded(whole) if operation == "cohere.embed" else _read_whole(whole)


def _read_whole(whole: dict[str, Any]) -> ModelAnswer:
    reason = whole.get("finish_reason")
    usage = whole.get("usage")
    answer = ModelAnswer(
        response_id=whole.get("id"),
        finish_reason=reason if isinstance(reason, str) else None,
        usage=usage if isinstance(usage, dict) else None,
        tokens=tokens_of(usage),
    )
    message = whole.get("message")
    if isinstance(message, dict):
        answer.messages = [{**message, "role": message.get("role") or "assistant"}]
        answer.finish_reasons = [answer.finish_reason]
    return answer


def _read_events(events: list[dict[str, Any]]) -> ModelAnswer:
    whole: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    calls: dict[int, dict[str, Any]] = {}
    plan: list[str] = []
    citations: dict[int, Any] = {}
    failure: Any = None
    ended = False
    for event in events:
        kind, index = event.get("type"), event.get("index")
        index = index if isinstance(index, int) else 0
        delta = event.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        message = delta.get("message")
        message = message if isinstance(message, dict) else {}
        if kind == "message-start":
            whole["id"] = event.get("id")
        elif kind == "message-end":
            ended = True
            whole |= {key: delta[key] for key in ("finish_reason", "usage") if key in delta}
            failure = delta.get("error")
        elif kind in ("content-start", "content-delta") and isinstance(message.get("content"), dict):
            _add(blocks.setdefault(index, {}), message["content"])
        elif kind == "tool-plan-delta":
            plan.append(str(message.get("tool_plan") or ""))
        elif kind == "citation-start" and isinstance(message.get("citations"), dict):
            citations[index] = message["citations"]
        elif kind in ("tool-call-start", "tool-call-delta") and isinstance(message.get("tool_calls"), dict):
            _add_call(calls.setdefault(index, {}), message["tool_calls"])
    said: dict[str, Any] = {"role": "assistant"}
    if blocks:
        said["content"] = [blocks[index] for index in sorted(blocks)]
    if any(plan):
        said["tool_plan"] = "".join(plan)
    if calls:
        said["tool_calls"] = [calls[index] for index in sorted(calls)]
    if citations:
        said["citations"] = [citations[index] for index in sorted(citations)]
    answer = _read_whole({**whole, **({"message": said} if len(said) > 1 or ended else {})})
    answer.complete, answer.events = ended, len(events)
    if isinstance(failure, str) and failure:
        answer.error = {"status": 200, "type": answer.finish_reason, "code": None, "message": failure}
    return answer


def _add(block: dict[str, Any], piece: dict[str, Any]) -> None:
    for key, value in piece.items():
        if key in ("text", "thinking") and isinstance(value, str):
            block[key] = str(block.get(key) or "") + value
        elif value is not None:
            block[key] = value
    if "type" not in block:
        block["type"] = "thinking" if "thinking" in block else "text"


def _add_call(call: dict[str, Any], piece: dict[str, Any]) -> None:
    given = piece.get("function")
    function = call.setdefault("function", {"name": None, "arguments": ""})
    if isinstance(given, dict):
        function["name"] = given.get("name") or function["name"]
        function["arguments"] += str(given.get("arguments") or "")
    call |= {key: value for key, value in piece.items() if key != "function" and value is not None}


def tokens_of(usage: Any) -> dict[str, int] | None:
    """Those that were read and written; what is billed may be less."""
    counted = usage.get("tokens") if isinstance(usage, dict) else None
    if not isinstance(counted, dict):
        return None
    pairs = (("input", "input_tokens"), ("output", "output_tokens"))
    found = {name: int(counted[key]) for name, key in pairs if isinstance(counted.get(key), int | float)}
    cached = usage.get("cached_tokens")
    if isinstance(cached, int | float) and cached:
        found["cache_read"] = int(cached)
    return found or None


def read_embedded(whole: dict[str, Any]) -> ModelAnswer:
    kinds = whole.get("embeddings")
    rows = next((one for one in kinds.values() if one), []) if isinstance(kinds, dict) else kinds or []
    size = len(rows[0]) if rows and isinstance(rows[0], list) else 0
    answer = ModelAnswer(response_id=None, embedding={"count": len(rows), "dimensions": size})
    meta = whole.get("meta")
    billed = meta.get("billed_units") if isinstance(meta, dict) else None
    if isinstance(billed, dict) and isinstance(billed.get("input_tokens"), int | float):
        answer.tokens = {"input": int(billed["input_tokens"])}
    return answer
