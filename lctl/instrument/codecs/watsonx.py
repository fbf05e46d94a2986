"""IBM's watsonx.ai: chats in OpenAI's form, prompts and embeddings in its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs import chat
from lctl.instrument.codecs.bodies import (
    is_event_stream,
    loads_or_none,
    objects,
    read_error_body,
)
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.sse import read_stream
from lctl.instrument.codecs.usage import sum_tokens

_OPERATIONS = {
    "/text/chat": "watsonx.chat",
    "/text/chat_stream": "watsonx.chat",
    "/text/generation": "watsonx.generation",
    "/text/generation_stream": "watsonx.generation",
    "/text/embeddings": "watsonx.embeddings",
}
_NOT_PARAMS = frozenset({"messages", "model_id", "tools", "input", "inputs"})
_COUNTS = {"input": ("input_token_count",), "output": ("generated_token_count",)}


class Watsonx(DocumentCodec):
    """Codec of the models of watsonx, by their id or deployed."""

    provider = "watsonx"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        return _OPERATIONS.get(path[path.rfind("/text/") :]) if "/ml/v" in path else None

    def conversation_key(self, operation: str) -> str | None:
        return "messages" if operation == "watsonx.chat" else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        messages, model = document.get("messages"), document.get("model_id")
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="embedding" if operation == "watsonx.embeddings" else "llm",
            model=model if isinstance(model, str) else None,
            tools=document.get("tools") or None,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=path_of(url).endswith("_stream"),
        )
        if operation == "watsonx.chat":
            if not isinstance(messages, list):
                raise ValueError("a chat of watsonx has a list of 'messages'")
            request.messages = [chat.as_message(message) for message in messages]
        else:
            request.input = document.get("input", document.get("inputs"))
        return request

    def read_refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        whole = loads_or_none(body)
        errors = objects(whole.get("errors")) if isinstance(whole, dict) else []
        error = read_error_body(status, body)
        return {**error, **_said(errors[0])} if errors else error

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        streamed = is_event_stream(headers, body) or body.startswith(b"id:")
        whole = None if streamed else loads_or_none(body)
        pieces = read_stream(body)[0] if streamed else objects([whole])
        if not pieces:
            return ModelAnswer(complete=False)
        if operation == "watsonx.chat":
            answer = chat.read_events(pieces, False) if streamed else chat.read_whole(pieces[0])
        elif operation == "watsonx.embeddings":
            answer = _read_embeddings(pieces[0])
        else:
            answer = _read_texts(pieces)
        models = (piece.get("model_id") or piece.get("model") for piece in pieces)
        answer.model = next((model for model in models if isinstance(model, str)), None)
        if streamed:
            answer.events = len(pieces)
        return answer


def _said(error: dict[str, Any]) -> dict[str, Any]:
    return {"code": error.get("code"), "message": error.get("message")}


def _read_texts(pieces: list[dict[str, Any]]) -> ModelAnswer:
    """Of one whole answer, or of a stream, whose counts are those so far."""
    results = [one for piece in pieces for one in objects(piece.get("results"))]
    texts = [str(one.get("generated_text") or "") for one in results]
    reasons = [one["stop_reason"] for one in results if isinstance(one.get("stop_reason"), str)]
    reason = next((reason for reason in reversed(reasons) if reason != "not_finished"), None)
    answer = ModelAnswer(finish_reason=reason, complete=reason is not None)
    if results:
        answer.messages = [{"role": "assistant", "content": "".join(texts)}]
        answer.finish_reasons = [reason]
        counted = [key for keys in _COUNTS.values() for key in keys]
        answer.usage = {key: max(one.get(key) or 0 for one in results) for key in counted}
        answer.tokens = sum_tokens(answer.usage, _COUNTS)
    return answer


def _read_embeddings(whole: dict[str, Any]) -> ModelAnswer:
    rows = objects(whole.get("results"))
    size = len(rows[0].get("embedding") or ()) if rows else 0
    answer = ModelAnswer(embedding={"count": len(rows), "dimensions": size})
    answer.tokens = sum_tokens(whole, {"input": ("input_token_count",)})
    return answer
