"""Bedrock's InvokeModel: each model's own body in one envelope, whole or in AWS's frames.

Which model speaks how is told by the body, not by its name: the name of an inference profile or of an
imported model says nothing. Anthropic's and Nova's forms are read by their codecs, OpenAI's (Mistral, Qwen,
gpt-oss, Jamba) by chat completions; here are those that answer a prompt with a text (Llama, Mistral, Titan,
DeepSeek, Command), Cohere's chat, and embeddings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lctl.instrument.codecs import aws, chat
from lctl.instrument.codecs.anthropic import Anthropic
from lctl.instrument.codecs.bedrock import EVENTS, Bedrock
from lctl.instrument.codecs.bodies import header, loads_or_none, objects
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of, segment_after

_ENDINGS = ("/invoke", "/invoke-with-response-stream")
_STREAM = "/invoke-with-response-stream"
#: Cohere's names of who speaks -> everybody's.
_ROLES = {"USER": "user", "CHATBOT": "assistant", "SYSTEM": "system", "TOOL": "tool"}
#: Where a body says what is embedded.
_EMBEDDED = ("texts", "inputs", "images", "inputText", "inputImage")
_NOT_PARAMS = frozenset({"messages", "message", "chat_history", "preamble", "prompt", "tools", *_EMBEDDED})
#: The counts of a body, of the metrics that end a stream, and of a response's headers.
_COUNTS = {
    "input": ("prompt_token_count", "inputTextTokenCount", "inputTokenCount", "input-token-count"),
    "output": (
        "generation_token_count",
        "totalOutputTextTokenCount",
        "outputTokenCount",
        "output-token-count",
    ),
    "cache_read": ("cacheReadInputTokenCount", "cache-read-input-token-count"),
    "cache_write": ("cacheWriteInputTokenCount", "cache-write-input-token-count"),
}
_METRICS = "amazon-bedrock-invocationMetrics"
_HEADER = "x-amzn-bedrock-"


class InvokeModel(DocumentCodec):
    """Codec of InvokeModel and InvokeModelWithResponseStream, of models that have no codec by name."""

    provider = "aws"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        return "invoke_model" if path.endswith(_ENDINGS) and "/model/" in path else None

    def conversation_key(self, operation: str) -> str | None:
        return "messages"

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        provider = provider_of(url, self.provider)
        read = _reader(document)
        request = read(url, document) if read is not None else _read_prompt(url, document)
        return replace(
            request,
            provider=provider,
            operation=operation,
            model=segment_after(url, "model"),
            stream=path_of(url).endswith(_STREAM),
        )

    def read_refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        return aws.read_error(status, headers, body)

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if aws.is_event_stream(headers):
            return _read_frames(aws.read_frames(body), headers, body)
        whole = loads_or_none(body)
        if not isinstance(whole, dict):
            return ModelAnswer(complete=False)
        if "output" in whole and "stopReason" in whole:
            return Bedrock().read_answer("converse", status, headers, [body])
        if whole.get("type") == "message":
            return Anthropic().read_answer("messages", status, headers, [body])
        told = {name: header(headers, _HEADER + name) for names in _COUNTS.values() for name in names}
        return _read_pieces([whole], {name: int(count) for name, count in told.items() if count.isdecimal()})


# -- what is asked -----------------------------------------------------------------------------


def _reader(document: dict[str, Any]) -> Any:
    if not isinstance(document.get("messages"), list):
        return None
    if "anthropic_version" in document:
        return lambda url, document: Anthropic().read_document("messages", url, document)
    if {"schemaVersion", "inferenceConfig", "toolConfig"} & document.keys():
        return lambda url, document: Bedrock().read_document("converse", url, document)
    return lambda url, document: chat.read_request(document, "aws")


def _read_prompt(url: str, document: dict[str, Any]) -> ModelRequest:
    params = {key: value for key, value in document.items() if key not in _NOT_PARAMS}
    request = ModelRequest(provider="aws", operation="invoke_model", kind="llm", model=None, params=params)
    if isinstance(document.get("message"), str):
        request.messages = list(said_to_cohere(document))
        request.instructions = bool(document.get("preamble"))
        request.tools = document.get("tools") or None
    elif isinstance(document.get("prompt"), str) and "stability." not in url:
        request.input = document["prompt"]
    elif isinstance(document.get("inputText"), str) and "embed" not in url:
        request.input = document["inputText"]
    else:
        request.kind = "embedding"
        request.input = next((document[name] for name in _EMBEDDED if document.get(name)), None)
        if request.input is None:
            raise ValueError("a body of InvokeModel has messages, a prompt, or what is to be embedded")
    return request


def said_to_cohere(document: dict[str, Any]) -> list[dict[str, Any]]:
    said = []
    if document.get("preamble"):
        said.append({"role": "system", "content": document["preamble"]})
    for one in objects(document.get("chat_history")):
        role = str(one.get("role"))
        more = {key: value for key, value in one.items() if key not in ("role", "message")}
        said.append({"role": _ROLES.get(role, role), "content": one.get("message"), **more})
    said.append({"role": "user", "content": document["message"]})
    if document.get("tool_results"):
        said.append({"role": "tool", "content": document["tool_results"]})
    return said


# -- what is answered --------------------------------------------------------------------------


def _read_frames(
    frames: list[tuple[str, dict[str, Any]]], headers: Mapping[str, str], body: bytes
) -> ModelAnswer:
    pieces = [piece for kind, piece in frames if not kind.endswith("Exception")]
    failed = next(((kind, piece) for kind, piece in frames if kind.endswith("Exception")), None)
    if any(piece.get("type") == "message_start" for piece in pieces):
        return Anthropic().read_answer("messages", 200, headers, [body])
    if any(not EVENTS.isdisjoint(piece) for piece in pieces):
        return Bedrock().read_answer("converse", 200, headers, [body])
    metrics = next((m for piece in reversed(pieces) if isinstance(m := piece.get(_METRICS), dict)), None)
    answer = _read_pieces(pieces, metrics or {}, stream=True)
    answer.complete = failed is None and (metrics is not None or answer.finish_reason is not None)
    answer.events = len(frames)
    if failed is not None:
        kind, said = failed
        answer.error = {"status": 200, "type": kind, "code": None, "message": said.get("message")}
    return answer


def _read_pieces(
    pieces: list[dict[str, Any]], metrics: Mapping[str, Any], *, stream: bool = False
) -> ModelAnswer:
    """From one whole answer, or from the pieces of a streamed one."""
    if any(_is_chat(piece) for piece in pieces):
        answer = _read_chat(pieces, stream)
    elif any("embedding" in piece or "embeddings" in piece for piece in pieces):
        answer = ModelAnswer(embedding=_embedded(pieces[0]))
    else:
        answer = read_texts(pieces)
    if answer.tokens is None:
        counted = {**metrics, **{key: value for piece in pieces for key, value in piece.items()}}
        answer.tokens = _tokens(counted, pieces)
        answer.usage = dict(metrics) or None
    return answer


def _is_chat(piece: dict[str, Any]) -> bool:
    return any("message" in one or "delta" in one for one in objects(piece.get("choices")))


def _read_chat(pieces: list[dict[str, Any]], stream: bool) -> ModelAnswer:
    """OpenAI's form; Mistral's has `stop_reason`, and `message` also in a stream."""
    usual = []
    for piece in pieces:
        choices = [
            {
                **one,
                "finish_reason": one.get("finish_reason") or one.get("stop_reason"),
                "delta" if stream else "message": one.get("delta") or one.get("message"),
            }
            for one in objects(piece.get("choices"))
        ]
        usual.append({**piece, "choices": choices})
    return chat.read_events(usual, False) if stream else chat.read_whole(usual[0])


def read_texts(pieces: list[dict[str, Any]]) -> ModelAnswer:
    said: list[str] = []
    calls: list[Any] = []
    reason, id = None, None
    for piece in pieces:
        whole = piece.get("response")  # Cohere's last event tells all once more
        if isinstance(whole, dict):
            calls = calls or objects(whole.get("tool_calls"))
            id = whole.get("generation_id") or id
        calls = calls or objects(piece.get("tool_calls"))
        id = piece.get("generation_id") or piece.get("id") or id
        for one in _parts(piece):
            text = next((one[key] for key in _TEXTS if isinstance(one.get(key), str)), None)
            said += [] if text is None else [text]
            reason = next((one[key] for key in _REASONS if isinstance(one.get(key), str)), reason)
    answer = ModelAnswer(id if isinstance(id, str) else None, finish_reason=reason)
    if said or calls:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(said)}
        answer.messages = [{**message, "tool_calls": calls} if calls else message]
        answer.finish_reasons = [reason]
    return answer


#: Where a piece of an answer has its text, and why it ended.
_TEXTS = ("generation", "outputText", "completion", "text")
_REASONS = ("stop_reason", "finish_reason", "completionReason")


def _parts(piece: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects of a piece that may hold its text: itself, or the first of a list in it."""
    listed = (piece.get(key) for key in ("outputs", "choices", "results", "generations"))
    return next(([found[0]] for many in listed if (found := objects(many))), [piece])


def _embedded(whole: dict[str, Any]) -> dict[str, int]:
    one, many = whole.get("embedding"), whole.get("embeddings")
    if isinstance(many, dict):  # by type
        many = next(iter(many.values()), None)
    rows = many if isinstance(many, list) else [one]
    first = rows[0] if rows else None
    return {"count": len(rows), "dimensions": len(first) if isinstance(first, list) else 0}


def _tokens(counted: Mapping[str, Any], pieces: list[dict[str, Any]]) -> dict[str, int] | None:
    """What was cached is counted apart from the input."""
    tokens: dict[str, int] = {}
    for name, keys in _COUNTS.items():
        count = next((counted[key] for key in keys if type(counted.get(key)) is int), None)
        if count is not None:
            tokens[name] = count
    results = [one.get("tokenCount") for piece in pieces for one in objects(piece.get("results"))]
    if results and "output" not in tokens:
        tokens["output"] = sum(count for count in results if type(count) is int)
    if "input" in tokens:
        tokens["input"] += tokens.get("cache_read", 0) + tokens.get("cache_write", 0)
    return {name: count for name, count in tokens.items() if count or name in ("input", "output")} or None
