"""OpenAI embeddings: how many vectors of how many numbers; the vectors themselves stay in the exchange."""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import objects
from lctl.instrument.codecs.chat import read_head
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

_NOT_PARAMS = frozenset({"input", "model"})


def read_request(document: dict[str, Any], provider: str) -> ModelRequest:
    if "input" not in document:
        raise ValueError("an embedding request has an 'input'")
    model = document.get("model")
    return ModelRequest(
        provider=provider,
        operation="embeddings",
        kind="embedding",
        model=model if isinstance(model, str) else None,
        params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
        input=document["input"],
    )


def read_whole(whole: dict[str, Any]) -> ModelAnswer:
    answer = read_head(whole)
    answer.response_id = None  # some servers give one; it names nothing that could be asked for again
    rows = objects(whole.get("data"))
    if "data" in whole:
        answer.embedding = {"count": len(rows), "dimensions": _size(rows[0].get("embedding")) if rows else 0}
    return answer


def _size(vector: Any) -> int:
    """Numbers in a vector, which may be base64 of 4-byte floats."""
    if isinstance(vector, str):
        return (len(vector) * 3 // 4 - vector[-2:].count("=")) // 4
    return len(vector) if isinstance(vector, list) else 0
