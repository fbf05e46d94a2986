"""OpenAI embeddings: how many vectors of how many numbers; the vectors themselves stay in the exchange.

Voyage's of pictures and of chunks in their documents are the same but for where the vectors are.
"""

from __future__ import annotations

from typing import Any

from lctl.instrument.codecs.bodies import objects
from lctl.instrument.codecs.chat import read_head
from lctl.instrument.codecs.model import ModelAnswer, ModelRequest

_NOT_PARAMS = frozenset({"input", "inputs", "model"})


def read_request(document: dict[str, Any], provider: str) -> ModelRequest:
    given = document.get("input", document.get("inputs"))
    if given is None:
        raise ValueError("an embedding request has an 'input'")
    model = document.get("model")
    return ModelRequest(
        provider=provider,
        operation="embeddings",
        kind="embedding",
        model=model if isinstance(model, str) else None,
        params={key: value for key, value in document.items() if key not in _NOT_PARAMS},
        input=given,
    )


def read_whole(whole: dict[str, Any]) -> ModelAnswer:
    answer = read_head(whole)
    answer.response_id = None  # some servers give one; it names nothing that could be asked for again
    if answer.tokens is not None and "input" not in answer.tokens and "total" in answer.tokens:
        answer.tokens = {"input": answer.tokens["total"], **answer.tokens}  # nothing is written
    rows = objects(whole.get("data"))
    if rows and isinstance(rows[0].get("data"), list):  # by document
        rows = [row for document in rows for row in objects(document.get("data"))]
    if "data" in whole:
        answer.embedding = {"count": len(rows), "dimensions": _size(rows[0].get("embedding")) if rows else 0}
    return answer


def _size(vector: Any) -> int:
    """Numbers in a vector, which may be base64 of 4-byte floats."""
    if isinstance(vector, str):
        return (len(vector) * 3 // 4 - vector[-2:].count("=")) // 4
    return len(vector) if isinstance(vector, list) else 0
