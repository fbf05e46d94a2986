"""OpenAI's smaller operations: completions, embeddings, the list of models (Anthropic's too)."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from typing import Any

from lctl.testing.request import Request
from lctl.testing.seeded import embedding
from lctl.testing.wire.call import Call, count_tokens, pieces, sse
from lctl.testing.wire.chat import finish_reason, usage

_DIMENSIONS = {"text-embedding-3-large": 3072}
MODELS = {
    "openai": ("gpt-4.1", "gpt-4.1-mini", "gpt-5", "o4-mini", "text-embedding-3-small"),
    "anthropic": ("claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5"),
}


def complete(call: Call) -> dict[str, Any]:
    """The whole answer of `POST /v1/completions`."""
    choices = [
        {"text": reply.content, "index": n, "logprobs": None, "finish_reason": finish_reason(reply)}
        for n, reply in enumerate(call.replies)
    ]
    return _head(call) | {"choices": choices, "usage": usage(call)}


def stream(call: Call) -> Iterator[bytes]:
    """The answer of `POST /v1/completions` as server-sent events."""
    head = _head(call)
    options = call.request.body.get("stream_options")
    for n, reply in enumerate(call.replies):
        for text in pieces(reply):
            yield sse(
                head | {"choices": [{"text": text, "index": n, "logprobs": None, "finish_reason": None}]}
            )
        end = {"text": "", "index": n, "logprobs": None, "finish_reason": finish_reason(reply)}
        yield sse(head | {"choices": [end]})
    if isinstance(options, dict) and options.get("include_usage") is True:
        yield sse(head | {"choices": [], "usage": usage(call)})
    yield sse(b"[DONE]")


def _head(call: Call) -> dict[str, Any]:
    return {
        "id": call.ids.make("cmpl-", 29),
        "object": "text_completion",
        "created": call.created,
        "model": call.model,
    }


def embed(request: Request, seed: int) -> dict[str, Any]:
    """The answer of `POST /v1/embeddings`; a vector depends on the seed, the model and its text only."""
    texts = _inputs(request.body.get("input"))
    size = request.body.get("dimensions") or _DIMENSIONS.get(request.model, 1536)
    packed = request.body.get("encoding_format") == "base64"
    data: list[dict[str, Any]] = []
    for index, text in enumerate(texts):
        vector: Any = embedding(seed, request.model, text, size)
        if packed:
            vector = base64.b64encode(struct.pack(f"<{size}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    tokens = sum(max(1, count_tokens(text)) for text in texts)
    counted = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": request.model, "usage": counted}


def _inputs(given: Any) -> list[str]:
    """Texts of an embedding's input: one text, texts, one list of token numbers, or lists of them."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, list) and all(isinstance(part, int) for part in given):
        return [" ".join(map(str, given))]
    return [part if isinstance(part, str) else " ".join(map(str, part)) for part in given]


def models(request: Request, created: int) -> dict[str, Any]:
    """The answer of `GET /v1/models` (or of one of them)."""
    known = MODELS[request.provider]
    wanted = request.path.partition("?")[0].rstrip("/").rpartition("/")[2]
    if wanted != "models":
        return _model(request.provider, wanted, created)
    data = [_model(request.provider, name, created) for name in known]
    if request.provider == "anthropic":
        return {"data": data, "has_more": False, "first_id": known[0], "last_id": known[-1]}
    return {"object": "list", "data": data}


def _model(provider: str, name: str, created: int) -> dict[str, Any]:
    if provider == "anthropic":
        return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "created": created, "owned_by": "system"}
