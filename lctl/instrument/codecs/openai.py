"""The OpenAI dialect: which operation a request is, and the codec that sends it to its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from lctl.instrument.codecs import chat, completions, embeddings, responses
from lctl.instrument.codecs.bodies import (
    header,
    is_event_stream,
    is_filtered,
    loads_or_none,
    read_error,
    read_error_body,
    read_object,
    reports_error,
)
from lctl.instrument.codecs.chunks import only_text
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of, segment_after
from lctl.instrument.codecs.sse import read_merged, read_stream, stream_error

# Longest first: "/chat/completions" also ends with "/completions".
_OPERATIONS = (
    ("/chat/completions", "chat.completions"),
    ("/agents/completions", "chat.completions"),  # Mistral's: the agent has the model
    ("/completions", "completions"),
    ("/invocations", "chat.completions"),  # a model that Databricks or SageMaker serves
    ("/responses", "responses"),
    ("/responses/input_tokens", "responses.input_tokens"),
    ("/responses/compact", "responses.compact"),
    ("/embeddings", "embeddings"),
    ("/multimodalembeddings", "embeddings"),  # Voyage's
    ("/contextualizedembeddings", "embeddings"),
    ("/decisions", "decisions"),
)
_REQUESTS: dict[str, Callable[[dict[str, Any], str], ModelRequest]] = {
    "chat.completions": chat.read_request,
    "completions": completions.read_request,
    "responses": responses.read_request,
    "responses.input_tokens": responses.read_request,
    "responses.compact": responses.read_request,
    "embeddings": embeddings.read_request,
    "decisions": responses.read_decision_request,
}
_WHOLES: dict[str, Callable[[dict[str, Any]], ModelAnswer]] = {
    "chat.completions": chat.read_whole,
    "completions": completions.read_whole,
    "responses": responses.read_whole,
    "responses.input_tokens": lambda whole: ModelAnswer(usage=whole),
    "responses.compact": responses.read_whole,
    "embeddings": embeddings.read_whole,
    "decisions": responses.read_decision,
}
_STREAMS: dict[str, Callable[[list[dict[str, Any]], bool], ModelAnswer]] = {
    "chat.completions": chat.read_events,
    "completions": completions.read_events,
    "responses": responses.read_events,
}

#: What stands before the name of a model in a path: Azure's, Databricks' and SageMaker's.
_NAMED_BY = ("deployments", "serving-endpoints", "endpoints")
_VERTEX = (":rawPredict", ":streamRawPredict")


def _is_writer(path: str, headers: Mapping[str, str]) -> bool:
    return "://api.writer.com/" in path or bool(header(headers, "x-stainless-lang"))


class OpenAI:
    """Codec of OpenAI's API and of every server that speaks it."""

    provider = "openai"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        if path.endswith("/api/embeddings"):
            return None  # Ollama's
        if path.endswith("/v1/chat"):  # Writer's; Cohere's is another
            return "chat.completions" if _is_writer(path, headers) else None
        if path.endswith(_VERTEX):  # what others than Google and Anthropic offer there: Mistral, AI21, ...
            own = "/publishers/anthropic/" in path or "/publishers/google/" in path
            return None if own else "chat.completions"
        return next((name for ending, name in _OPERATIONS if path.endswith(ending)), None)

    def conversation_key(self, operation: str) -> str | None:
        if operation == "chat.completions":
            return "messages"
        return "input" if operation.startswith("responses") else None

    def read_request(self, operation: str, url: str, body: bytes) -> ModelRequest:
        return self.read_document(operation, url, read_object(body))

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        request = _REQUESTS[operation](document, provider_of(url, self.provider))
        request.operation = operation
        if request.model is None:
            names = (segment_after(url, name) for name in _NAMED_BY)
            request.model = next((name for name in names if name is not None), None)
        path = path_of(url)
        if path.endswith(_VERTEX):
            request.stream = request.stream or path.endswith(_VERTEX[1])
            named = segment_after(url, "models")
            request.model = request.model or (named.partition(":")[0] if named else None)
        return request

    def read_answer(
        self, operation: str, status: int, headers: Mapping[str, str], chunks: Sequence[bytes]
    ) -> ModelAnswer:
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        if status >= 400:
            return ModelAnswer(error=read_error_body(status, body))
        if operation in _STREAMS and body[:1] != b"{" and is_event_stream(headers, body):
            if operation == "chat.completions":
                events, done, count = read_merged(body, only_text)
            else:
                events, done = read_stream(body)
                count = len(events)
            answer = _read_events(operation, status, events, done)
            answer.events = count
            return answer
        try:
            whole = orjson.loads(body)
        except orjson.JSONDecodeError:
            whole = loads_or_none(body)
        if not isinstance(whole, dict):
            return ModelAnswer(complete=False)
        answer = _WHOLES[operation](whole)
        if answer.error is not None:
            answer.error["status"] = status
        elif "error" in whole and reports_error(whole) and not is_filtered(whole):
            answer.error = read_error(status, whole)
        return answer


def _read_events(operation: str, status: int, events: list[dict[str, Any]], done: bool) -> ModelAnswer:
    answer = _STREAMS[operation](events, done)
    failure = stream_error(events)
    if answer.error is not None:
        answer.error["status"] = status
    elif failure is not None:
        answer.error = read_error(status, failure)
        answer.complete = False
    return answer
