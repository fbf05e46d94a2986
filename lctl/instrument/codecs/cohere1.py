"""Cohere's first API: a message and the history before it, prompts, embeddings.

What is said and answered there is what Bedrock's InvokeModel has of Cohere, and is read as that. Many
programs have a `/v1/chat` of their own: Cohere's names a model, or is at Cohere's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs import cohere, invoke
from lctl.instrument.codecs.bodies import (
    is_event_stream,
    loads_or_none,
    objects,
)
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.sse import read_stream

_OPERATIONS = {
    "/v1/chat": "cohere.v1.chat",
    "/v1/generate": "cohere.v1.generate",
    "/v1/embed": "cohere.embed",
}
_NOT_PARAMS = frozenset(
    {"message", "chat_history", "preamble", "prompt", "tools", "tool_results", "model", "stream"}
)
_SUBJECTS = {
    "cohere.v1.chat": ("message",),
    "cohere.v1.generate": ("prompt",),
    "cohere.embed": ("texts", "images"),
}


class Cohere1(DocumentCodec):
    """Codec of the first version."""

    provider = "cohere"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        return _OPERATIONS.get(path[path.rfind("/v1/") :])

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        provider, model = provider_of(url, ""), document.get("model")
        subject = next((document[key] for key in _SUBJECTS[operation] if document.get(key) is not None), None)
        if not isinstance(subject, str | list) or not (isinstance(model, str) or provider == self.provider):
            raise ValueError("a request to Cohere has a 'model', and what it is about")
        request = ModelRequest(
            provider=provider or self.provider,
            operation=operation,
            kind="embedding" if operation == "cohere.embed" else "llm",
            model=model if isinstance(model, str) else None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            tools=document.get("tools") or None,
            stream=bool(document.get("stream")),
        )
        if operation == "cohere.v1.chat":
            request.messages = [one for said in invoke.said_to_cohere(document) for one in _spelt(said)]
            request.instructions = bool(document.get("preamble"))
        else:
            request.input = subject
            request.params = {key: v for key, v in request.params.items() if key not in ("texts", "images")}
        return request

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if is_event_stream(headers, body):
            pieces = read_stream(body)[0]
        else:
            whole = loads_or_none(body)
            lines = [whole] if whole is not None else map(loads_or_none, body.split(b"\n"))
            pieces = [piece for piece in lines if isinstance(piece, dict)]
        if not pieces:
            return ModelAnswer(complete=False)
        if operation == "cohere.embed":
            return cohere.read_embedded(pieces[0])
        return _read_pieces(pieces)


def _spelt(message: dict[str, Any]) -> list[dict[str, Any]]:
    """As chats have it: calls are of functions, and each result is a message. The calls have no ids."""
    if message["role"] == "user":  # what follows results of tools has no words
        return [message] if message.get("content") else []
    if message["role"] == "tool":
        content = message.get("content")
        given = objects(content if isinstance(content, list) else message.get("tool_results"))
        called = [one["call"] if isinstance(one.get("call"), dict) else {} for one in given]
        return [
            {"role": "tool", "tool_name": call.get("name"), "content": one.get("outputs")}
            for call, one in zip(called, given, strict=True)
        ]
    return [_calling(message)]


def _calling(message: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"type": "function", "function": {"name": call.get("name"), "arguments": call.get("parameters")}}
        for call in objects(message.get("tool_calls"))
    ]
    return {**message, "tool_calls": calls} if calls else message


def _read_pieces(pieces: list[dict[str, Any]]) -> ModelAnswer:
    last, whole = pieces[-1], pieces[-1].get("response")
    if isinstance(whole, dict):  # the end of a stream tells all once more
        last = {**last, **whole}
        answer = invoke.read_texts([{key: value for key, value in last.items() if key != "response"}])
    else:
        answer = invoke.read_texts(pieces)
    if "is_finished" in last:
        answer.complete, answer.events = bool(last["is_finished"]), len(pieces)
    if isinstance(last.get("response_id"), str):
        answer.response_id = last["response_id"]
    answer.messages = [_calling(message) for message in answer.messages]
    if last.get("citations") and answer.messages:
        answer.messages[0]["citations"] = last["citations"]
    meta = last.get("meta")
    if isinstance(meta, dict):
        answer.usage = meta
        billed = meta.get("billed_units")
        answer.tokens = cohere.tokens_of(meta) or cohere.tokens_of({"tokens": billed})
    if answer.finish_reason == "ERROR":
        said = objects([last.get("error")])
        message = said[0].get("message") if said else last.get("error")
        answer.error = {"status": 200, "type": answer.finish_reason, "code": None, "message": message}
    return answer
