"""Alibaba's own API of its models (DashScope): what is asked stands in `input`, how in `parameters`.

A stream says what is new, or each time all that was said so far, as it was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from lctl.instrument.codecs.bodies import (
    is_event_stream,
    loads_or_none,
    objects,
    read_error,
)
from lctl.instrument.codecs.chat import as_message
from lctl.instrument.codecs.choices import Choice
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of
from lctl.instrument.codecs.sse import read_stream
from lctl.instrument.codecs.usage import read_tokens

_OPERATIONS = {
    "/aigc/text-generation/generation": "dashscope.generation",
    "/aigc/multimodal-generation/generation": "dashscope.generation",
    "/embeddings/text-embedding/text-embedding": "dashscope.embedding",
    "/embeddings/multimodal-embedding/multimodal-embedding": "dashscope.embedding",
}


class DashScope(DocumentCodec):
    """Codec of DashScope's generation and embeddings."""

    provider = "dashscope"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        _, found, service = path_of(url).rpartition("/services")
        return _OPERATIONS.get(service) if found else None

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        model, said, params = document.get("model"), document.get("input"), document.get("parameters")
        if not isinstance(model, str) or not isinstance(said, dict):
            raise ValueError("a request to DashScope has a 'model' and an 'input'")
        params = dict(params) if isinstance(params, dict) else {}
        request = ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="embedding" if operation == "dashscope.embedding" else "llm",
            model=model,
            tools=params.pop("tools", None) or None,
            params=params,
            stream=bool(params.get("incremental_output")),
        )
        messages = said.get("messages")
        if isinstance(messages, list):
            request.messages = [as_message(message) for message in messages]
        else:
            request.input = next(
                (said[key] for key in ("prompt", "texts", "contents") if said.get(key)), None
            )
        return request

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        streamed = is_event_stream(headers, body) or body.startswith(b"id:")
        whole = None if streamed else loads_or_none(body)
        events = read_stream(body)[0] if streamed else objects([whole])
        if not events:
            return ModelAnswer(complete=False)
        answer = _read_embeddings(events[0]) if operation == "dashscope.embedding" else _read_events(events)
        if streamed:
            answer.events = len(events)
        failed = next((event for event in events if event.get("code") and "output" not in event), None)
        if failed is not None:
            answer.error, answer.complete = read_error(status, failed), False
        return answer


def _read_head(events: list[dict[str, Any]]) -> ModelAnswer:
    answer = ModelAnswer()
    for event in events:
        id, usage = event.get("request_id"), event.get("usage")
        answer.response_id = id if isinstance(id, str) else answer.response_id
        answer.usage = usage if isinstance(usage, dict) else answer.usage
    answer.tokens = read_tokens(answer.usage)
    return answer


def _read_events(events: list[dict[str, Any]]) -> ModelAnswer:
    answer = _read_head(events)
    said: dict[int, list[dict[str, Any]]] = {}
    reasons: dict[int, str | None] = {}
    for event in events:
        for at, one in enumerate(_choices(event.get("output"))):
            index = one.get("index")
            index = index if isinstance(index, int) else at
            said.setdefault(index, []).append(one["message"])
            reasons[index] = _reason(one.get("finish_reason")) or reasons.get(index)
    answer.messages = [_joined(said[index]) for index in sorted(said)]
    answer.finish_reasons = [reasons[index] for index in sorted(said)]
    answer.finish_reason = answer.finish_reasons[0] if said else None
    answer.complete = bool(said) and all(reasons.values())
    return answer


def _choices(output: Any) -> list[dict[str, Any]]:
    """Each with a message; a text without one is that of an assistant."""
    if not isinstance(output, dict):
        return []
    choices = [one for one in objects(output.get("choices")) if isinstance(one.get("message"), dict)]
    if choices or not isinstance(output.get("text"), str):
        return choices
    message = {"role": "assistant", "content": output["text"]}
    return [{"message": message, "finish_reason": output.get("finish_reason")}]


def _reason(value: Any) -> str | None:
    return value if isinstance(value, str) and value not in ("", "null") else None


def _joined(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    if len(pieces) == 1:
        [whole] = pieces
        return {**whole, "role": whole.get("role") or "assistant"}
    texts = [_texts(piece) for piece in pieces]
    if len({len(text) for text in texts if text}) > 1 and _grows(texts):
        return _joined(pieces[-1:])
    choice = Choice()
    for piece in pieces:
        choice.add({**piece, "content": _parts(piece.get("content"))})
    message = choice.message()
    if choice.parts is not None:  # as the answer in one piece has it
        message["content"] = [_bare(part) for part in choice.parts]
    return message


def _texts(piece: dict[str, Any]) -> str:
    content = piece.get("content")
    parts = (
        [content] if isinstance(content, str) else [str(one.get("text") or "") for one in objects(content)]
    )
    return str(piece.get("reasoning_content") or "") + "\0" + "".join(parts)


def _grows(texts: list[str]) -> bool:
    """Whether each says what the one before it said, and goes on."""
    pairs = [(before.split("\0"), after.split("\0")) for before, after in pairwise(texts)]
    return all(new.startswith(old) for before, after in pairs for old, new in zip(before, after, strict=True))


def _parts(content: Any) -> Any:
    """Parts with the type that tells which of them belong together."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "text", **part} if isinstance(part, dict) and set(part) == {"text"} else part
        for part in content
    ]


def _bare(part: Any) -> Any:
    return {"text": part["text"]} if isinstance(part, dict) and set(part) == {"type", "text"} else part


def _read_embeddings(whole: dict[str, Any]) -> ModelAnswer:
    answer = _read_head([whole])
    if answer.tokens is not None and "input" not in answer.tokens and "total" in answer.tokens:
        answer.tokens = {"input": answer.tokens["total"], **answer.tokens}
    output = whole.get("output")
    rows = objects(output.get("embeddings")) if isinstance(output, dict) else []
    vector: Iterable[Any] = rows[0].get("embedding") or () if rows else ()
    answer.embedding = {"count": len(rows), "dimensions": len(list(vector))}
    return answer
