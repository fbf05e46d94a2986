"""Bedrock's InvokeModel: Anthropic's messages, Nova's, chat completions or Llama's text, as the body asks."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import orjson

from lctl.testing.wire import bedrock, chat, messages
from lctl.testing.wire.call import Call, pieces

CONTENT_TYPE = bedrock.CONTENT_TYPE
_NOVA = frozenset({"schemaVersion", "inferenceConfig", "toolConfig"})


def complete(call: Call) -> dict[str, Any]:
    """The whole response."""
    wire = _wire(call)
    return _text(call, call.reply.content, last=True) if wire is None else wire.complete(call)


def stream(call: Call) -> Iterator[bytes]:
    """The response as frames, each with an event in base64; the last has Bedrock's own counts."""
    events = list(_events(call))
    tokens = call.tokens
    counts = {"inputTokenCount": tokens.input, "outputTokenCount": tokens.output}
    events[-1] |= {"amazon-bedrock-invocationMetrics": {**counts, "invocationLatency": 12}}
    for event in events:
        yield bedrock.frame("chunk", {"bytes": base64.b64encode(orjson.dumps(event)).decode()})


def _wire(call: Call) -> Any:
    body = call.request.body
    if "anthropic_version" in body:
        return messages
    if "messages" in body and (_NOVA & body.keys() or "nova" in call.request.path):
        return bedrock
    return chat if "messages" in body else None


def _events(call: Call) -> Iterator[dict[str, Any]]:
    wire = _wire(call)
    if wire is None:
        said = pieces(call.reply) or [""]
        for number, piece in enumerate(said, 1):
            yield _text(call, piece, last=number == len(said))
        return
    if wire is bedrock:
        for kind, payload in bedrock.events(call):
            yield {kind: payload}
        return
    for sent in wire.stream(call):
        data = sent.partition(b"data: ")[2]
        if data.startswith(b"{"):
            yield orjson.loads(data)


def _text(call: Call, text: str, *, last: bool) -> dict[str, Any]:
    tokens = call.tokens
    return {
        "generation": text,
        "prompt_token_count": tokens.input,
        "generation_token_count": tokens.output if last else 1,
        "stop_reason": (call.reply.finish_reason or "stop") if last else None,
    }
