"""Bedrock's Converse and ConverseStream, and the Nova models' own form of InvokeModel, which is the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lctl.instrument.codecs import aws
from lctl.instrument.codecs.bodies import loads_or_none, objects
from lctl.instrument.codecs.documents import DocumentCodec
from lctl.instrument.codecs.hosts import provider_of
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest
from lctl.instrument.codecs.paths import path_of, segment_after
from lctl.instrument.codecs.usage import sum_tokens

_NOT_PARAMS = frozenset({"messages", "system", "toolConfig"})
_CONVERSE = ("/converse", "/converse-stream")
_COUNTS_TOKENS = "/count-tokens"
_INVOKE = ("/invoke", "/invoke-with-response-stream")
#: What was cached is counted apart from the input.
_COUNTS = {
    "input": ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
    "output": ("outputTokens",),
    "cache_read": ("cacheReadInputTokens",),
    "cache_write": ("cacheWriteInputTokens",),
    "total": ("totalTokens",),
}
#: Frames that are events of a stream.
EVENTS = frozenset(
    {
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    }
)


class Bedrock(DocumentCodec):
    """Codec of Converse."""

    provider = "aws"

    def operation(self, method: str, url: str, headers: Mapping[str, str]) -> str | None:
        path = path_of(url)
        if path.endswith(_CONVERSE) and "/model/" in path:
            return "converse"
        if path.endswith(_COUNTS_TOKENS) and "/model/" in path:
            return "converse.count_tokens"
        if path.endswith(_INVOKE) and "nova" in path.rpartition("/model/")[2]:
            return "converse"
        return None

    def conversation_key(self, operation: str) -> str | None:
        return "messages"

    def read_document(self, operation: str, url: str, document: dict[str, Any]) -> ModelRequest:
        if operation == "converse.count_tokens":
            return self._read_counted(operation, url, document.get("input"))
        # A prompt of Bedrock's prompt management has messages of its own; the request says its variables.
        messages = document.get("messages", None if path_of(url).endswith(_INVOKE) else [])
        if not isinstance(messages, list):
            raise ValueError("a Converse request has a list of 'messages'")
        system = document.get("system")
        prompt = [one if isinstance(one, dict) else {"role": "unknown", "content": one} for one in messages]
        if system:
            prompt.insert(0, {"role": "system", "content": system})
        config = document.get("toolConfig")
        config = config if isinstance(config, dict) else {}
        params = {key: value for key, value in document.items() if key not in _NOT_PARAMS}
        if config.get("toolChoice") is not None:
            params["toolChoice"] = config["toolChoice"]
        return ModelRequest(
            provider=provider_of(url, self.provider),
            operation=operation,
            kind="llm",
            model=segment_after(url, "model"),
            messages=prompt,
            instructions=bool(system),
            tools=config.get("tools") or None,
            params=params,
            stream=path_of(url).endswith("-stream"),
        )

    def _read_counted(self, operation: str, url: str, given: Any) -> ModelRequest:
        """The request whose tokens are counted: of Converse, or a body of InvokeModel."""
        given = given if isinstance(given, dict) else {}
        converse, invoked = given.get("converse"), given.get("invokeModel")
        if isinstance(converse, dict):
            return replace(self.read_document("converse", url, converse), operation=operation)
        if not isinstance(invoked, dict):
            raise ValueError("a count of tokens is of 'converse' or 'invokeModel'")
        document = loads_or_none(aws.from_base64(str(invoked.get("body") or "")))
        messages = document.get("messages") if isinstance(document, dict) else None
        said = document if isinstance(document, dict) and isinstance(messages, list) else {"messages": []}
        return replace(self.read_document("converse", url, said), operation=operation)

    def read_refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
        return aws.read_error(status, headers, body)

    def read_body(self, operation: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelAnswer:
        if aws.is_event_stream(headers):
            return read_frames(aws.read_frames(body))
        whole = loads_or_none(body)
        if not isinstance(whole, dict):
            return ModelAnswer(complete=False)
        return ModelAnswer(usage=whole) if operation == "converse.count_tokens" else _read_whole(whole)


def _read_whole(whole: dict[str, Any]) -> ModelAnswer:
    usage = whole.get("usage")
    reason = whole.get("stopReason")
    answer = ModelAnswer(finish_reason=reason if isinstance(reason, str) else None)
    if isinstance(usage, dict):
        answer.usage, answer.tokens = usage, _tokens(usage)
    output = whole.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    if isinstance(message, dict):
        answer.messages = [{**message, "role": message.get("role") or "assistant"}]
        answer.finish_reasons = [answer.finish_reason]
    return answer


def _tokens(usage: dict[str, Any]) -> dict[str, int] | None:
    tokens = sum_tokens(usage, _COUNTS)
    for written in objects(usage.get("cacheDetails")):
        count = written.get("inputTokens")
        if tokens is not None and written.get("ttl") == "1h" and type(count) is int and count > 0:
            tokens["cache_write_1h"] = tokens.get("cache_write_1h", 0) + count
    return tokens


def read_frames(frames: list[tuple[str, dict[str, Any]]]) -> ModelAnswer:
    """The answer of a stream, as far as it came."""
    role, reason, usage = "assistant", None, None
    blocks: dict[int, _Block] = {}
    error: dict[str, Any] | None = None
    count = 0
    for kind, event in frames:
        if kind not in EVENTS:  # InvokeModel wraps each event in its name
            kind = next((name for name in event if name in EVENTS), kind)
            event = event.get(kind, event)
        if not isinstance(event, dict):
            continue
        count += 1
        index = event.get("contentBlockIndex")
        block = blocks.setdefault(index, _Block()) if isinstance(index, int) else _Block()
        if kind == "messageStart":
            role = str(event.get("role") or role)
        elif kind == "contentBlockStart":
            block.start(event.get("start"))
        elif kind == "contentBlockDelta":
            block.add(event.get("delta"))
        elif kind == "messageStop":
            reason = event.get("stopReason")
        elif kind == "metadata":
            usage = event.get("usage")
        elif "message" in event:
            error = {"status": 200, "type": kind, "code": None, "message": event.get("message")}
    content: list[dict[str, Any]] = []
    for index in sorted(blocks):
        whole = blocks[index].whole()
        if content and set(whole) == set(content[-1]) == {"text"}:  # Nova counts each piece as a block
            content[-1] = {"text": content[-1]["text"] + whole["text"]}
        elif whole:
            content.append(whole)
    message = {"role": role, "content": content}
    answer = _read_whole({"output": {"message": message}, "usage": usage, "stopReason": reason})
    if not content and reason is None:
        answer.messages, answer.finish_reasons = [], []
    answer.complete = reason is not None and error is None
    answer.error = error
    answer.events = count
    return answer


class _Block:
    """One content block of a stream while its deltas arrive."""

    __slots__ = ("_bytes", "_citations", "_input", "_other", "_reasoning", "_results", "_start", "_text")

    def __init__(self) -> None:
        self._start: dict[str, dict[str, Any]] = {}  # what the block began with, by its kind
        self._input: list[str] = []
        self._results: list[Any] = []
        self._text: list[str] = []
        self._citations: list[Any] = []
        self._reasoning: dict[str, str] = {}
        self._bytes: list[str] = []
        self._other: dict[str, Any] = {}

    def start(self, start: Any) -> None:
        for kind, value in start.items() if isinstance(start, dict) else ():
            if isinstance(value, dict):
                self._start[kind] = value

    def add(self, delta: Any) -> None:
        for key, value in delta.items() if isinstance(delta, dict) else ():
            if key == "text":
                self._text.append(str(value))
            elif key == "toolUse" and isinstance(value, dict):
                self._start.setdefault(key, {})
                self._input.append(str(value.get("input") or ""))
            elif key == "toolResult" and isinstance(value, list):
                self._start.setdefault(key, {})
                self._results += value
            elif key == "citation":
                self._citations.append(value)
            elif key == "reasoningContent" and isinstance(value, dict):
                self._think(value)
            elif key == "image" and isinstance(value, dict):
                self._draw(value)
            else:
                self._other[key] = value

    def _think(self, piece: dict[str, Any]) -> None:
        if piece.get("redactedContent"):
            self._bytes.append(str(piece["redactedContent"]))
            return
        self._reasoning["text"] = self._reasoning.get("text", "") + str(piece.get("text") or "")
        if piece.get("signature"):
            self._reasoning["signature"] = str(piece["signature"])

    def _draw(self, piece: dict[str, Any]) -> None:
        self._start.setdefault("image", {})
        source = piece.get("source")
        for kind, value in source.items() if isinstance(source, dict) else ():
            if kind == "bytes":
                self._bytes.append(str(value))
            else:
                self._other[kind] = value
        if piece.get("error"):
            self._other["error"] = piece["error"]

    def whole(self) -> dict[str, Any]:
        """As the answer in one piece has it."""
        if "toolUse" in self._start:
            text = "".join(self._input)
            value = loads_or_none(text.encode("utf-8", "replace")) if text else {}
            return {"toolUse": {**self._start["toolUse"], "input": text if value is None else value}}
        if "toolResult" in self._start:
            return {"toolResult": {**self._start["toolResult"], "content": self._results}}
        if "image" in self._start:
            other = dict(self._other)
            error = {"error": other.pop("error")} if "error" in other else {}
            source = {**other, **({"bytes": aws.join_base64(self._bytes)} if self._bytes else {})}
            return {"image": {**self._start["image"], "source": source, **error}}
        if self._reasoning:
            return {"reasoningContent": {"reasoningText": dict(self._reasoning)}}
        if self._bytes:
            return {"reasoningContent": {"redactedContent": aws.join_base64(self._bytes)}}
        text = "".join(self._text)
        if self._citations:
            return {"citationsContent": {"content": [{"text": text}], "citations": self._citations}}
        return {"text": text} if text else dict(self._other)
