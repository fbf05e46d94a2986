"""Google's generateContent, embedContent and countTokens, as the Gemini API writes them."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from lctl.testing.replies import Reply
from lctl.testing.request import Request
from lctl.testing.seeded import embedding
from lctl.testing.wire.call import Call, pieces, prompt_tokens, sse

_REASONS = {"length": "MAX_TOKENS", "content_filter": "SAFETY", "stop": "STOP", "tool_calls": "STOP"}
_DIMENSIONS = 3072


def complete(call: Call) -> dict[str, Any]:
    """The whole response."""
    candidates = [
        {
            "content": {"parts": list(_parts(call, reply)), "role": "model"},
            "finishReason": _reason(reply),
            "index": n,
        }
        for n, reply in enumerate(call.replies)
    ]
    return {"candidates": candidates, **_tail(call)}


def stream(call: Call) -> Iterator[bytes]:
    """The response as chunks, each with a piece of it, calls together; the counts so far in every one."""
    tail = _tail(call)
    for n, reply in enumerate(call.replies):
        said: list[list[dict[str, Any]]] = []
        for part in _parts(call, reply):
            if "functionCall" in part and said and "functionCall" in said[-1][0]:
                said[-1].append(part)
            else:
                said += [[piece] for piece in _pieces(part, reply)]
        for at, parts in enumerate(said or [[{"text": ""}]]):
            candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": n}
            if at == max(0, len(said) - 1):
                candidate["finishReason"] = _reason(reply)
            yield sse({"candidates": [candidate], **tail})


def count(request: Request) -> dict[str, Any]:
    """The answer of countTokens."""
    return {"totalTokens": prompt_tokens(request.turns, request.body)}


def embed(request: Request, seed: int) -> dict[str, Any]:
    """The answer of embedContent, or of batchEmbedContents."""
    asked = request.body.get("requests")
    several = asked if isinstance(asked, list) else [request.body]
    rows = []
    for one in several:
        size = one.get("outputDimensionality") or _DIMENSIONS
        text = "\n".join(str(p.get("text")) for p in (one.get("content") or {}).get("parts") or ())
        rows.append({"values": embedding(seed, request.model, text, size)})
    return {"embeddings": rows} if isinstance(asked, list) else {"embedding": rows[0]}


def _parts(call: Call, reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.reasoning:
        yield {"text": reply.reasoning, "thought": True}
    text = reply.refusal if reply.refusal is not None else reply.content
    if text or not reply.tool_calls:
        yield {"text": text}
    for n, tool in enumerate(reply.calls):
        made: dict[str, Any] = {"functionCall": {"name": tool.name, "args": tool.arguments}}
        if tool.id:
            made["functionCall"]["id"] = tool.id
        if n == 0:  # sent back with the call by whoever goes on
            made["thoughtSignature"] = base64.b64encode(call.ids.make("", 24).encode()).decode()
        yield made


def _pieces(part: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    if "text" not in part:
        return [part]
    if part.get("thought"):
        return [part]
    return [{"text": piece} for piece in pieces(reply)]


def _reason(reply: Reply) -> str:
    if reply.finish_reason is not None:
        return _REASONS.get(reply.finish_reason, reply.finish_reason)
    return "SAFETY" if reply.refusal is not None else "STOP"


def _tail(call: Call) -> dict[str, Any]:
    tokens = call.tokens
    usage: dict[str, Any] = {
        "promptTokenCount": tokens.input,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "totalTokenCount": tokens.input + tokens.output,
    }
    if tokens.reasoning:
        usage["thoughtsTokenCount"] = tokens.reasoning
    if tokens.cache_read:
        usage["cachedContentTokenCount"] = tokens.cache_read
    return {"usageMetadata": usage, "modelVersion": call.model, "responseId": call.ids.copy().make("", 22)}
