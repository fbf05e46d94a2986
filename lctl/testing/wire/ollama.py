"""Ollama's chat and generate: one JSON object, or a line of JSON for each piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from lctl.testing.wire.call import Call, pieces

CONTENT_TYPE = "application/x-ndjson"
_CREATED = "2026-01-01T00:00:00Z"


def complete(call: Call) -> dict[str, Any]:
    """The whole answer."""
    return {**_head(call), **_said(call, _message(call)), **_end(call)}


def stream(call: Call) -> Iterator[bytes]:
    """The answer line by line; the counts in the last."""
    whole = _message(call)
    if "thinking" in whole:
        yield _line(call, {"role": "assistant", "content": "", "thinking": whole["thinking"]})
    for piece in pieces(call.reply):
        yield _line(call, {"role": "assistant", "content": piece})
    if "tool_calls" in whole:
        yield _line(call, {"role": "assistant", "content": "", "tool_calls": whole["tool_calls"]})
    last = {**_head(call), **_said(call, {"role": "assistant", "content": ""}), **_end(call)}
    yield orjson.dumps(last) + b"\n"


def _line(call: Call, message: dict[str, Any]) -> bytes:
    return orjson.dumps({**_head(call), **_said(call, message), "done": False}) + b"\n"


def _said(call: Call, message: dict[str, Any]) -> dict[str, Any]:
    if call.request.operation == "ollama.chat":
        return {"message": message}
    thinking = {"thinking": message["thinking"]} if "thinking" in message else {}
    return {"response": message["content"], **thinking}


def _head(call: Call) -> dict[str, Any]:
    return {"model": call.model, "created_at": _CREATED}


def _message(call: Call) -> dict[str, Any]:
    reply = call.reply
    message: dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.reasoning:
        message["thinking"] = reply.reasoning
    if reply.tool_calls:
        calls = [{"function": {"name": t.name, "arguments": t.arguments}} for t in reply.calls]
        message["tool_calls"] = calls
    return message


def _end(call: Call) -> dict[str, Any]:
    tokens = call.tokens
    reason = call.reply.finish_reason or "stop"
    counts = {"prompt_eval_count": tokens.input, "eval_count": tokens.output}
    return {"done": True, "done_reason": reason, "total_duration": 1000, "load_duration": 10, **counts}
