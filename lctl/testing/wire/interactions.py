"""Google's interactions: `POST /v1beta/interactions`."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import orjson

from lctl.testing.wire.call import Call, Tokens, cut, cut_json, pieces, sse

Step = dict[str, Any]

_CUT = frozenset({"length", "max_tokens", "max_output_tokens"})


def complete(call: Call) -> dict[str, Any]:
    """The whole interaction."""
    return _interaction(call, call.ids.make("v1_", 48), list(_steps(call)))


def stream(call: Call) -> Iterator[bytes]:
    """The interaction as its events: each step begins, grows by deltas, and stops."""
    id = call.ids.make("v1_", 48)
    steps = list(_steps(call))
    final = _interaction(call, id, [])
    del final["steps"]
    begun = {**final, "status": "in_progress"}
    del begun["usage"]
    yield _event("interaction.created", interaction=begun)
    for index, step in enumerate(steps):
        yield from _step_events(call, index, step)
    yield _event("interaction.completed", interaction=final)
    yield sse(b"[DONE]", "done")


def _event(name: str, **data: Any) -> bytes:
    return sse({"event_type": name, **data}, name)


def _interaction(call: Call, id: str, steps: list[Step]) -> dict[str, Any]:
    previous = call.request.body.get("previous_interaction_id")
    return {
        "id": id,
        "object": "interaction",
        "status": _status(call),
        "model": call.model,
        "created": call.request.at,
        "updated": call.request.at,
        **({"previous_interaction_id": previous} if previous else {}),
        "steps": steps,
        "usage": usage(call.tokens),
    }


def _status(call: Call) -> str:
    if call.reply.finish_reason in _CUT:
        return "incomplete"
    return "requires_action" if call.reply.tool_calls else "completed"


def usage(tokens: Tokens) -> dict[str, Any]:
    return {
        "total_input_tokens": tokens.input,
        "total_cached_tokens": tokens.cache_read,
        "total_output_tokens": tokens.output - tokens.reasoning,
        "total_thought_tokens": tokens.reasoning,
        "total_tool_use_tokens": 0,
        "total_tokens": tokens.input + tokens.output,
    }


def _steps(call: Call) -> Iterator[Step]:
    reply = call.reply
    if reply.reasoning:
        signature = base64.b64encode(call.ids.make("", 24).encode()).decode()
        summary = [{"type": "text", "text": reply.reasoning}]
        yield {"type": "thought", "signature": signature, "summary": summary}
    text = reply.refusal if reply.refusal is not None else reply.content
    if text or not reply.tool_calls:
        yield {"type": "model_output", "content": [{"type": "text", "text": text}]}
    for tool in reply.calls:
        id = tool.id or call.ids.make("", 8)
        yield {"type": "function_call", "id": id, "name": tool.name, "arguments": tool.arguments}


def _step_events(call: Call, index: int, step: Step) -> Iterator[bytes]:
    kind = step["type"]
    begun = {"type": kind, **({} if kind != "function_call" else {**step, "arguments": {}})}
    yield _event("step.start", index=index, step=begun)
    for delta in _deltas(call, step):
        yield _event("step.delta", index=index, delta=delta)
    yield _event("step.stop", index=index)


def _deltas(call: Call, step: Step) -> Iterator[dict[str, Any]]:
    if step["type"] == "function_call":
        text = orjson.dumps(step["arguments"]).decode()
        yield from ({"type": "arguments_delta", "arguments": piece} for piece in cut_json(text))
    elif step["type"] == "thought":
        for piece in cut(step["summary"][0]["text"]):
            yield {"type": "thought_summary", "content": {"type": "text", "text": piece}}
        yield {"type": "thought_signature", "signature": step["signature"]}
    else:
        said = cut(step["content"][0]["text"]) if call.reply.refusal is not None else pieces(call.reply)
        yield from ({"type": "text", "text": piece} for piece in said)
