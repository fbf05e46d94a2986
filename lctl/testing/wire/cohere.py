"""Cohere's chat, version 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.testing.replies import Reply
from lctl.testing.wire.call import Call, cut_json, pieces, sse

_REASONS = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"}


def complete(call: Call) -> dict[str, Any]:
    """The whole answer."""
    reply = call.reply
    message: dict[str, Any] = {"role": "assistant"}
    if reply.tool_calls:
        message |= {"tool_plan": reply.content, "tool_calls": _calls(call)}
    else:
        message["content"] = [{"type": "text", "text": reply.content}]
    head = {"id": call.ids.make("", 36)}
    return {**head, "message": message, "finish_reason": _reason(reply), "usage": _usage(call)}


def stream(call: Call) -> Iterator[bytes]:
    """The answer as its sequence of events."""
    reply = call.reply
    yield _event("message-start", {"message": {"role": "assistant"}}, id=call.ids.make("", 36))
    if reply.tool_calls:
        for piece in pieces(reply):
            yield _event("tool-plan-delta", {"message": {"tool_plan": piece}})
        for n, made in enumerate(_calls(call)):
            function = made["function"]
            begun = {**made, "function": {"name": function["name"], "arguments": ""}}
            yield _event("tool-call-start", {"message": {"tool_calls": begun}}, index=n)
            for piece in cut_json(function["arguments"]):
                delta = {"message": {"tool_calls": {"function": {"arguments": piece}}}}
                yield _event("tool-call-delta", delta, index=n)
            yield _event("tool-call-end", None, index=n)
    else:
        yield _event("content-start", {"message": {"content": {"type": "text", "text": ""}}}, index=0)
        for piece in pieces(reply):
            yield _event("content-delta", {"message": {"content": {"text": piece}}}, index=0)
        yield _event("content-end", None, index=0)
    yield _event("message-end", {"finish_reason": _reason(reply), "usage": _usage(call)})


def _event(kind: str, delta: dict[str, Any] | None, **more: Any) -> bytes:
    return sse({"type": kind, **more, **({"delta": delta} if delta is not None else {})}, kind)


def _calls(call: Call) -> list[dict[str, Any]]:
    return [
        {
            "id": tool.id or call.ids.make(f"{tool.name}_", 12),
            "type": "function",
            "function": {"name": tool.name, "arguments": tool.json},
        }
        for tool in call.reply.calls
    ]


def _reason(reply: Reply) -> str:
    if reply.finish_reason is not None:
        return _REASONS.get(reply.finish_reason, reply.finish_reason)
    return "TOOL_CALL" if reply.tool_calls else "COMPLETE"


def _usage(call: Call) -> dict[str, Any]:
    counts = {"input_tokens": call.tokens.input, "output_tokens": call.tokens.output}
    return {"billed_units": counts, "tokens": counts}
