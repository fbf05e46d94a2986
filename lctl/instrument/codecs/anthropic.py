"""Anthropic messages and token counting: the API itself, gateways, Bedrock and Vertex paths."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from lctl.instrument.codecs import aws
from lctl.instrument.codecs.bodies import (
    header,
    is_event_stream,
    loads_or_none,
    objects,
    read_error,
    reports_error,
)
from lctl.instrument.codecs.chat import as_message
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of, segment_after
from lctl.instrument.codecs.sse import read_stream, stream_error
from lctl.instrument.codecs.usage import read_tokens

_NOT_PARAMS = frozenset({"messages", "model", "tools", "system", "stream"})
_VERTEX = (":rawPredict", ":streamRawPredict")


class Anthropic(DocumentCodec):
    """Codec of the Messages API."""

    provider = "anthropic"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        if path.endswith("/messages"):
            by_version = path.endswith("/v1/messages") and "/threads/" not in path
            return "messages" if by_version or header(headers, "anthropic-version") else None
        if path.endswith("/messages/count_tokens"):
            return "messages.count_tokens"
        if path.endswith(_VERTEX) and "/publishers/anthropic/" in path:
            return "messages.count_tokens" if "/models/count-tokens:" in path else "messages"
        if path.endswith(("/invoke", "/invoke-with-response-stream")) and "anthropic" in path:
            return "messages"
        return None

    def conversation_key(self, operation: str) -> str | None:
        return "messages"

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        messages = document.get("messages")
        if not isinstance(messages, list):
            raise ValueError("a Messages request has a list of 'messages'")
        model = document.get("model")
        system = document.get("system")
        prompt = [as_message(message) for message in messages]
        if system:
            prompt.insert(0, {"role": "system", "content": system})
        streaming_path = path_of(url).endswith((":streamRawPredict", "-stream"))
        return ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="llm",
            model=model if isinstance(model, str) else _model_in(url),
            messages=prompt,
            instructions=bool(system),
            tools=document.get("tools") or None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=bool(document.get("stream")) or streaming_path,
            continues=_continues(document.get("thread")),
        )

    def read_refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        return aws.read_error(status, headers, body)

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if aws.is_event_stream(headers):
            return _read_events(status, aws.read_stream(body))
        if is_event_stream(headers, body):
            return _read_events(status, read_stream(body)[0])
        whole = loads_or_none(body)
        if not isinstance(whole, dict):
            return ModelAnswer(complete=False)
        if reports_error(whole):
            return ModelAnswer(error=read_error(status, whole))
        if operation == "messages.count_tokens":
            return ModelAnswer(usage=whole)
        return _read_whole(whole)


def _continues(thread: Any) -> str | None:
    """The answer that a request goes on from, where the provider keeps the thread."""
    previous = thread.get("previous_message_id") if isinstance(thread, dict) else None
    return previous if isinstance(previous, str) else None


def _model_in(url: str) -> str | None:
    """The model that Bedrock and Vertex name in the path."""
    model = segment_after(url, "model") or segment_after(url, "models")
    return model.partition(":")[0] if model and model.endswith(_VERTEX) else model


def _read_whole(whole: dict[str, Any]) -> ModelAnswer:
    usage = whole.get("usage")
    reason = whole.get("stop_reason")
    content = whole.get("content")
    answer = ModelAnswer(
        response_id=whole.get("id"),
        model=whole.get("model"),
        finish_reason=reason,
        usage=usage if isinstance(usage, dict) else None,
        tokens=read_tokens(usage, cache_apart=True),
    )
    if isinstance(content, list) or "role" in whole:
        answer.messages = [{"role": whole.get("role") or "assistant", "content": content or []}]
        answer.finish_reasons = [reason]
    return answer


def _read_events(status: int, events: list[dict[str, Any]]) -> ModelAnswer:
    whole: dict[str, Any] = {}
    blocks: dict[int, _Block] = {}
    over: list[tuple[int, _Block]] = []  # gateways begin another block under the index of one before
    ended = False
    for event in events:
        kind = event.get("type")
        index = event.get("index")
        index = index if isinstance(index, int) else 0
        if kind == "content_block_delta":
            delta = event.get("delta")
            if isinstance(delta, dict):
                blocks.setdefault(index, _Block({})).add(delta)
        elif kind == "content_block_start":
            start = event.get("content_block")
            if index in blocks:
                over.append((index, blocks[index]))
            blocks[index] = _Block(start if isinstance(start, dict) else {})
            whole.update(_served_by(start))
        elif kind == "message_start":
            message = event.get("message")
            whole = dict(message) if isinstance(message, dict) else {}
        elif kind == "message_delta":
            _add_message_delta(whole, event)
        elif kind == "message_stop":
            ended = True
    if whole or blocks:
        in_order = sorted([*over, *blocks.items()], key=itemgetter(0))
        content = [block.whole() for _, block in in_order]
        whole = {**whole, "role": whole.get("role") or "assistant", "content": content}
    answer = _read_whole(whole)
    if not blocks and not ended:
        answer.messages, answer.finish_reasons = [], []  # nothing was said before the end
    failure = stream_error(events)
    if failure is not None:
        answer.error = read_error(status, failure)
    # LiteLLM reads until it knows why the model stopped; what is left says that it is over.
    answer.complete = ended or whole.get("stop_reason") is not None
    answer.events = len(events)
    return answer


def _add_message_delta(whole: dict[str, Any], event: dict[str, Any]) -> None:
    """Its usage is cumulative and final: newer counts replace those of the start, none are added."""
    delta = event.get("delta")
    if isinstance(delta, dict):
        whole.update({key: value for key, value in delta.items() if value is not None})
    usage = event.get("usage")
    if isinstance(usage, dict):
        before = whole.get("usage")
        newer = {key: value for key, value in usage.items() if value is not None}
        whole["usage"] = {**(before if isinstance(before, dict) else {}), **newer}


def _served_by(block: Any) -> dict[str, Any]:
    """A model that another one fell back to answers from here on, as the answer in one piece says."""
    to = block.get("to") if isinstance(block, dict) and block.get("type") == "fallback" else None
    return {"model": to["model"]} if isinstance(to, dict) and isinstance(to.get("model"), str) else {}


#: Pieces that are the whole of it, each time.
_WHOLE = frozenset({"signature", "content", "encrypted_content"})


class _Block:
    """One content block of a stream while its deltas arrive."""

    __slots__ = ("_json", "_pieces", "_start")

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._pieces: dict[str, list[str]] = {}
        self._json: list[str] = []

    def add(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if key in ("type", "estimated_tokens") or value is None:  # the count so far, of no block
                continue
            if key == "partial_json":
                self._json.append(str(value))
            elif key == "citation":
                self._start = {**self._start, "citations": [*objects(self._start.get("citations")), value]}
            elif isinstance(value, str) and key not in _WHOLE:
                self._pieces.setdefault(key, []).append(value)
            else:
                self._start = {**self._start, key: value}

    def whole(self) -> dict[str, Any]:
        block = dict(self._start)
        for key, pieces in self._pieces.items():
            before = block.get(key)
            block[key] = (before if isinstance(before, str) else "") + "".join(pieces)
        if self._json:
            text = "".join(self._json)
            value = loads_or_none(text.encode("utf-8", "replace")) if text else {}
            block["input"] = text if value is None else value  # cut: the text as far as it came
        if "type" not in block:  # its start was lost
            block = {"type": "thinking" if "thinking" in block else "text", **block}
        return block
