"""Anthropic messages."""

from __future__ import annotations

from typing import Any

import orjson

from lctl.instrument.codecs import find as find_codec
from lctl.patch import Unaddressed
from lctl.patch.changing import same
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, reason_in, rewritten
from lctl.rerun.dialects.streaming import messages_stream


def _made(model: str, tag: str) -> Whole:
    return {
        "id": f"msg_{tag}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _blocks(whole: Whole) -> list[dict[str, Any]]:
    content = whole.get("content")
    if not isinstance(content, list):
        raise Unaddressed("the recorded response holds no answer")
    return [block for block in content if isinstance(block, dict)]


def _read(whole: Whole) -> Answer:
    blocks = _blocks(whole)
    texts = [block.get("text") or "" for block in blocks if block.get("type") == "text"]
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {"id": block.get("id"), "name": block.get("name"), "input": block.get("input")}
            for block in blocks
            if block.get("type") == "tool_use"
        ],
        "finish_reason": whole.get("stop_reason"),
        "model": whole.get("model"),
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    blocks = _blocks(whole)
    raw = [block for block in blocks if block.get("type") == "tool_use"]
    texts = [block for block in blocks if block.get("type") == "text"]
    if not same(old["content"], new.get("content")):
        texts = [{"type": "text", "text": str(new["content"])}] if new.get("content") else []

    def make(call: Answer, n: int, before: Any) -> Any:
        id = call.get("id") or (before or {}).get("id") or f"toolu_{tag}_{n}"
        return {"type": "tool_use", "id": id, "name": call["name"], "input": call.get("input") or {}}

    calls = rewritten(old["tool_calls"], new.get("tool_calls"), raw, make)
    others = [block for block in blocks if block.get("type") not in ("text", "tool_use")]
    reason = reason_in("messages", new.get("finish_reason") or "end_turn")
    return {**whole, "model": new.get("model"), "content": [*others, *texts, *calls], "stop_reason": reason}


def _gather(events: list[dict[str, Any]]) -> Whole:
    found = find_codec("POST", "/v1/messages", {})
    assert found is not None
    stream = b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events)
    answer = found[0].read_answer("messages", 200, {"content-type": "text/event-stream"}, [stream])
    start: Any = next((event.get("message") for event in events if event.get("type") == "message_start"), {})
    content = answer.messages[0]["content"] if answer.messages else []
    return {
        **_made(str(answer.model), ""),
        **(start if isinstance(start, dict) else {}),
        "content": content,
        "stop_reason": answer.finish_reason,
        "usage": answer.usage or {},
    }


DIALECT = Dialect(_made, _read, _write, _gather, messages_stream)
