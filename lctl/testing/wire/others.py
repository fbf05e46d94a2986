"""OpenAI's smaller operations: completions, embeddings, the list of models (of others, too)."""

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
    "google": ("gemini-2.5-pro", "gemini-2.5-flash"),
}
_TAGS = ("llama3.1:latest", "qwen3:latest")


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
    """What models there are, or what the one is that the path names (Ollama's `show`: the body)."""
    path = request.path.partition("?")[0].rstrip("/")
    if "/api/" in path:
        return _ollama(request) if path.endswith("/show") else {"models": [_tag(name) for name in _TAGS]}
    provider = "google" if _is_google(request) else request.provider
    known = MODELS[provider]
    wanted = path.rpartition("/")[2]
    if wanted != "models":
        return _model(provider, wanted, created)
    data = [_model(provider, name, created) for name in known]
    if provider == "google":
        return {"models": data}
    if provider == "anthropic":
        return {"data": data, "has_more": False, "first_id": known[0], "last_id": known[-1]}
    return {"object": "list", "data": data}


def _is_google(request: Request) -> bool:
    return "x-goog-api-key" in request.headers or request.path.startswith("/v1beta/models")


def _model(provider: str, name: str, created: int) -> dict[str, Any]:
    if provider == "google":
        can = {"supportedGenerationMethods": ["generateContent", "countTokens"]}
        limits = {"inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}
        return {"name": f"models/{name}", "version": "001", "displayName": name, **limits, **can}
    if provider == "anthropic":
        return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "created": created, "owned_by": "system"}


def _ollama(request: Request) -> dict[str, Any]:
    told = {"general.architecture": "llama", "llama.context_length": 131_072}
    can = ["completion", "tools", "thinking"]
    details = _tag(request.model)["details"]
    return {"template": "{{ .Prompt }}", "details": details, "model_info": told, "capabilities": can}


def _tag(name: str) -> dict[str, Any]:
    details = {"format": "gguf", "family": "llama", "parameter_size": "8B", "quantization_level": "Q4_K_M"}
    at = "2026-01-01T00:00:00Z"
    return {"name": name, "model": name, "modified_at": at, "size": 4_900_000_000, "details": details}
