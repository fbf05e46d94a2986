"""Google's generateContent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from lctl.instrument.codecs import find as find_codec
from lctl.instrument.codecs.bodies import objects
from lctl.patch import Unaddressed
from lctl.patch.changing import same
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, cut, reason_in, rewritten, sse


def _made(model: str, tag: str) -> Whole:
    content: dict[str, Any] = {"role": "model", "parts": []}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
        "modelVersion": model,
        "responseId": tag,
    }


def _candidate(whole: Whole) -> dict[str, Any]:
    candidates = objects(whole.get("candidates"))
    if not candidates:
        raise Unaddressed("the recorded response holds no answer")
    return candidates[0]


def _parts(whole: Whole) -> list[dict[str, Any]]:
    content = _candidate(whole).get("content")
    return objects(content.get("parts")) if isinstance(content, dict) else []


def _is_said(part: dict[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and not part.get("thought")


def _read(whole: Whole) -> Answer:
    parts = _parts(whole)
    texts = [part["text"] for part in parts if _is_said(part)]
    calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {"id": call.get("id"), "name": call.get("name"), "input": call.get("args") or {}}
            for call in calls
        ],
        "finish_reason": _candidate(whole).get("finishReason"),
        "model": whole.get("modelVersion"),
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    candidate, parts = _candidate(whole), _parts(whole)
    raw = [part for part in parts if "functionCall" in part]
    texts = [part for part in parts if _is_said(part)]
    if not same(old["content"], new.get("content")):
        texts = [{"text": str(new["content"])}] if new.get("content") else []

    def make(call: Answer, n: int, before: Any) -> Any:
        id = call.get("id") or ((before or {}).get("functionCall") or {}).get("id")
        named = {"id": id} if id else {}
        made = {"functionCall": {**named, "name": call["name"], "args": call.get("input") or {}}}
        return {**(before or {}), **made}

    calls = rewritten(old["tool_calls"], new.get("tool_calls"), raw, make)
    others = [part for part in parts if not _is_said(part) and "functionCall" not in part]
    content = {"role": "model", **(candidate.get("content") or {}), "parts": [*others, *texts, *calls]}
    reason = reason_in("google", new.get("finish_reason") or "stop")
    said = {**candidate, "content": content, "finishReason": reason}
    return {**whole, "modelVersion": new.get("model"), "candidates": [said, *whole["candidates"][1:]]}


def _gather(events: list[dict[str, Any]]) -> Whole:
    found = find_codec("POST", "/v1beta/models/any:generateContent", {})
    assert found is not None
    stream = b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events)
    answer = found[0].read_answer("generate_content", 200, {"content-type": "text/event-stream"}, [stream])
    last = events[-1] if events else {}
    candidates = [
        {"content": message, "finishReason": reason, "index": n}
        for n, (message, reason) in enumerate(zip(answer.messages, answer.finish_reasons, strict=True))
    ]
    return {**last, "candidates": candidates}


def _stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    """Chunks with a piece of each answer, the counts and what ended it in the last."""
    tail = {name: value for name, value in whole.items() if name != "candidates"}
    candidates = objects(whole.get("candidates"))
    for at, candidate in enumerate(candidates):
        parts = objects((candidate.get("content") or {}).get("parts"))
        pieces = [piece for part in parts for piece in _pieces(part)] or [{"text": ""}]
        for n, piece in enumerate(pieces):
            ended = {"finishReason": candidate.get("finishReason")} if n == len(pieces) - 1 else {}
            content = {"role": "model", "parts": [piece]}
            yield sse({"candidates": [{"content": content, **ended, "index": at}], **tail})
    if not candidates:
        yield sse(whole)


def _pieces(part: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"text": text} for text in cut(part["text"])] if set(part) == {"text"} else [part]


DIALECT = Dialect(_made, _read, _write, _gather, _stream)
