"""Bedrock's Converse and ConverseStream, the latter in frames of AWS's event stream."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import orjson

from lctl.testing.replies import Reply
from lctl.testing.wire.call import Call, cut_json, pieces

CONTENT_TYPE = "application/vnd.amazon.eventstream"
_REASONS = {"length": "max_tokens", "content_filter": "content_filtered", "stop": "end_turn"}


def complete(call: Call) -> dict[str, Any]:
    """The whole response."""
    message = {"role": "assistant", "content": list(_blocks(call))}
    return {
        "metrics": {"latencyMs": 12},
        "output": {"message": message},
        "stopReason": _reason(call.reply),
        "usage": _usage(call),
    }


def stream(call: Call) -> Iterator[bytes]:
    """The response as frames."""
    for kind, payload in events(call):
        yield frame(kind, payload)


def events(call: Call) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each event of it, by its name."""
    yield "messageStart", {"role": "assistant"}
    for index, block in enumerate(_blocks(call)):
        at = {"contentBlockIndex": index}
        if "toolUse" in block:
            tool = {key: value for key, value in block["toolUse"].items() if key != "input"}
            yield "contentBlockStart", {**at, "start": {"toolUse": tool}}
            for piece in cut_json(orjson.dumps(block["toolUse"]["input"]).decode()):
                yield "contentBlockDelta", {**at, "delta": {"toolUse": {"input": piece}}}
        elif "reasoningContent" in block:
            said = block["reasoningContent"]["reasoningText"]["text"]
            yield "contentBlockDelta", {**at, "delta": {"reasoningContent": {"text": said}}}
        else:
            for piece in pieces(call.reply):
                yield "contentBlockDelta", {**at, "delta": {"text": piece}}
        yield "contentBlockStop", at
    yield "messageStop", {"stopReason": _reason(call.reply)}
    yield "metadata", {"usage": _usage(call), "metrics": {"latencyMs": 12}}


def frame(kind: str, payload: dict[str, Any]) -> bytes:
    """One event: lengths and their checksum, headers, payload, checksum of all."""
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2, "big") + value.encode()
        for name, value in (
            (":event-type", kind),
            (":content-type", "application/json"),
            (":message-type", "event"),
        )
    )
    body = orjson.dumps(payload)
    head = (len(headers) + len(body) + 16).to_bytes(4, "big") + len(headers).to_bytes(4, "big")
    framed = head + zlib.crc32(head).to_bytes(4, "big") + headers + body
    return framed + zlib.crc32(framed).to_bytes(4, "big")


def _blocks(call: Call) -> Iterator[dict[str, Any]]:
    reply = call.reply
    if reply.reasoning:
        yield {"reasoningContent": {"reasoningText": {"text": reply.reasoning}}}
    if reply.content or not reply.tool_calls:
        yield {"text": reply.content}
    for tool in reply.calls:
        id = tool.id or call.ids.make("tooluse_", 22)
        yield {"toolUse": {"toolUseId": id, "name": tool.name, "input": tool.arguments}}


def _reason(reply: Reply) -> str:
    if reply.finish_reason is not None:
        return _REASONS.get(reply.finish_reason, reply.finish_reason)
    return "tool_use" if reply.tool_calls else "end_turn"


def _usage(call: Call) -> dict[str, int]:
    tokens = call.tokens
    return {
        "inputTokens": tokens.input - tokens.cache_read - tokens.cache_write,
        "outputTokens": tokens.output,
        "totalTokens": tokens.input + tokens.output,
        "cacheReadInputTokens": tokens.cache_read,
        "cacheWriteInputTokens": tokens.cache_write,
    }
