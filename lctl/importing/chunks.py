"""Streams of chat completions as programs keep them: a chunk each, made the answers that they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lctl.importing.source import Row
from lctl.importing.values import dicts, mapping, text

#: What a chunk adds to; the rest of it is said once.
_ADDED = ("content", "refusal", "reasoning_content", "reasoning")


def is_chunk(value: dict[str, Any]) -> bool:
    return value.get("object") == "chat.completion.chunk"


def with_answers(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, those that are chunks of one answer made one, where the first of them stood."""
    streams: dict[str, tuple[Row, list[dict[str, Any]]]] = {}
    found: list[Row | str] = []
    for row in rows:
        if not is_chunk(row.value):
            found.append(row)
            continue
        id = text(row.value.get("id"))
        if id not in streams:
            streams[id] = row, []
            found.append(id)
        streams[id][1].append(row.value)
    for one in found:
        if isinstance(one, Row):
            yield one
        else:
            first, chunks = streams[one]
            yield first._replace(value=answer_of_chunks(chunks))


def answer_of_chunks(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The chat completion that these chunks are."""
    choices: dict[int, dict[str, Any]] = {}
    whole: dict[str, Any] = {"id": "", "object": "chat.completion", "model": "", "usage": {}}
    for chunk in chunks:
        for key in ("id", "model", "usage", "created"):
            whole[key] = chunk.get(key) or whole.get(key)
        for piece in dicts(chunk.get("choices")):
            index = piece.get("index")
            choice = choices.setdefault(index if isinstance(index, int) else 0, {"message": {}})
            choice["finish_reason"] = piece.get("finish_reason") or choice.get("finish_reason")
            _add(choice["message"], mapping(piece.get("delta")))
    for choice in choices.values():
        message = choice["message"]
        if "tool_calls" in message:
            message["tool_calls"] = [call for _, call in sorted(message["tool_calls"].items())]
    return {**whole, "choices": [choice for _, choice in sorted(choices.items())]}


def _add(message: dict[str, Any], delta: dict[str, Any]) -> None:
    message["role"] = message.get("role") or text(delta.get("role")) or "assistant"
    message.setdefault("content", None)
    for key in _ADDED:
        if isinstance(delta.get(key), str):
            message[key] = (message.get(key) or "") + delta[key]
    for n, piece in enumerate(dicts(delta.get("tool_calls"))):
        index = piece.get("index")
        empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        calls = message.setdefault("tool_calls", {})
        call = calls.setdefault(index if isinstance(index, int) else n, empty)
        said, function = mapping(piece.get("function")), call["function"]
        call["id"] = call["id"] or text(piece.get("id"))
        function["name"] = function["name"] or text(said.get("name"))
        function["arguments"] += text(said.get("arguments"))
