"""Anthropic messages: `POST /v1/messages` and `/v1/messages/count_tokens`."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import orjson

from lctl.testing.replies import Reply
from lctl.testing.request import Request
from lctl.testing.wire.call import Call, Tokens, cut, cut_json, pieces, prompt_tokens, sse

Block = dict[str, Any]

_REASONS = {
    "length": "max_tokens",
    "max_output_tokens": "max_tokens",
    "tool_calls": "tool_use",
    "stop": "end_turn",
    "content_filter": "refusal",
}


def complete(call: Call) -> dict[str, Any]:
    """The whole message."""
    return _head(call) | {
        "content": list(_blocks(call)),
        "stop_reason": stop_reason(call.reply),
        "stop_sequence": None,
        "usage": usage(call.tokens),
    }


def count_tokens(request: Request) -> dict[str, Any]:
    """The answer of `/v1/messages/count_tokens`."""
    return {"input_tokens": prompt_tokens(request.turns, request.body)}


def stream(call: Call) -> Iterator[bytes]:
    """The message as its sequence of named events."""
    tokens = call.tokens
    start = _head(call) | {"content": [], "stop_reason": None, "stop_sequence": None}
    yield _event("message_start", message=start | {"usage": usage(tokens) | {"output_tokens": 1}})
    for index, block in enumerate(_blocks(call)):
        yield _event("content_block_start", index=index, content_block=_begun(block))
        if index == 0:
            yield _event("ping")
        for delta in _deltas(call.reply, block):
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    # Cumulative: these counts replace those of message_start.
    final = {k: v for k, v in usage(tokens).items() if k not in ("cache_creation", "service_tier")}
    delta = {"stop_reason": stop_reason(call.reply), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage=final)
    yield _event("message_stop")


def usage(tokens: Tokens) -> dict[str, Any]:
    """Anthropic's input count leaves cached tokens out."""
    counted: dict[str, Any] = {
        "input_tokens": max(0, tokens.input - tokens.cache_read - tokens.cache_write),
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": tokens.cache_write - tokens.cache_write_1h,
            "ephemeral_1h_input_tokens": tokens.cache_write_1h,
        },
        "output_tokens": tokens.output,
        "service_tier": "standard",
    }
    if tokens.reasoning:
        counted["output_tokens_details"] = {"thinking_tokens": tokens.reasoning}
    if tokens.web_searches:
        counted["server_tool_use"] = {"web_search_requests": tokens.web_searches, "web_fetch_requests": 0}
    return counted


def stop_reason(reply: Reply) -> str:
    if reply.finish_reason is not None:
        return _REASONS.get(reply.finish_reason, reply.finish_reason)
    if reply.refusal is not None:
        return "refusal"
    return "tool_use" if reply.tool_calls else "end_turn"


def _head(call: Call) -> dict[str, Any]:
    return {"model": call.model, "id": call.ids.make("msg_01", 22), "type": "message", "role": "assistant"}


def _blocks(call: Call) -> Iterator[Block]:
    reply = call.reply
    if reply.reasoning:
        signature = base64.b64encode(call.ids.make("", 96).encode()).decode()
        yield {"type": "thinking", "thinking": reply.reasoning, "signature": signature}
    text = reply.refusal if reply.refusal is not None else reply.content
    if text or not reply.tool_calls:
        yield {"type": "text", "text": text}
    for tool in reply.calls:
        arguments = tool.arguments if not isinstance(tool.arguments, str) else _loaded(tool.arguments)
        yield {
            "type": "tool_use",
            "id": tool.id or call.ids.make("toolu_01", 22),
            "name": tool.name,
            "input": arguments,
        }


def _loaded(arguments: str) -> Any:
    """Anthropic sends arguments as an object, so a broken text can only be sent as a string."""
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments


def _begun(block: Block) -> Block:
    empty: dict[str, Block] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
    }
    return {**block, **empty[block["type"]]}


def _deltas(reply: Reply, block: Block) -> Iterator[Block]:
    match block["type"]:
        case "text":
            for piece in cut(reply.refusal) if reply.refusal is not None else pieces(reply):
                yield {"type": "text_delta", "text": piece}
        case "thinking":
            for piece in cut(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            written = block["input"]
            text = written if isinstance(written, str) else orjson.dumps(dict(written)).decode()
            yield {"type": "input_json_delta", "partial_json": ""}
            for piece in cut_json(text):
                yield {"type": "input_json_delta", "partial_json": piece}


def _event(name: str, **data: Any) -> bytes:
    return sse({"type": name, **data}, name)
