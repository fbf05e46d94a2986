"""Anthropic's text completions, which came before its messages: a prompt and how it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.instrument.codecs.bodies import (
    is_event_stream,
    loads_or_none,
    objects,
    read_error,
    reports_error,
)
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.sse import read_stream, stream_error

_NOT_PARAMS = frozenset({"prompt", "model", "stream"})


class Prompted(DocumentCodec):
    """Codec of `/v1/complete`."""

    provider = "anthropic"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        return "complete" if path_of(url).endswith("/v1/complete") else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        model, prompt = document.get("model"), document.get("prompt")
        if not isinstance(model, str) or not isinstance(prompt, str):
            raise ValueError("a text completion has a 'model' and a 'prompt'")
        return ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="llm",
            model=model,
            params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
            stream=bool(document.get("stream")),
            input=prompt,
        )

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        streamed = is_event_stream(headers, body)
        pieces = read_stream(body)[0] if streamed else objects([loads_or_none(body)])
        said = [piece for piece in pieces if isinstance(piece.get("completion"), str)]
        failure = stream_error(pieces) if streamed else next(filter(reports_error, pieces), None)
        answer = ModelAnswer(complete=False, events=len(pieces) if streamed else None)
        for piece in said:
            answer.response_id = answer.response_id or piece.get("id")
            answer.model = answer.model or piece.get("model")
            answer.finish_reason = piece.get("stop_reason") or answer.finish_reason
        if said:
            text = "".join(piece["completion"] for piece in said)
            answer.messages = [{"role": "assistant", "content": text}]
            answer.finish_reasons = [answer.finish_reason]
            answer.complete = answer.finish_reason is not None
        if failure is not None:
            answer.error, answer.complete = read_error(status, failure), False
        return answer
