"""Mistral's conversations: entries of the model, which say nothing of why it ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.instrument.codecs.bodies import objects
from lctl.instrument.codecs.mistral import put_together
from lctl.patch import Unaddressed
from lctl.patch.changing import same
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, cut, dumped, loaded, rewritten, sse

_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def _made(model: str, tag: str) -> Whole:
    return {
        "object": "conversation.response",
        "conversation_id": f"conv_{tag}",
        "outputs": [],
        "usage": dict(_USAGE),
    }


def _entries(whole: Whole, kind: str = "") -> list[dict[str, Any]]:
    if not isinstance(whole.get("outputs"), list):
        raise Unaddressed("the recorded response holds no answer")
    return [entry for entry in objects(whole["outputs"]) if not kind or entry.get("type") == kind]


def _said(entry: dict[str, Any]) -> str:
    content = entry.get("content")
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text") or "") for part in objects(content) if part.get("type") == "text")


def _read(whole: Whole) -> Answer:
    texts = [_said(entry) for entry in _entries(whole, "message.output")]
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {
                "id": entry.get("tool_call_id"),
                "name": entry.get("name"),
                "input": loaded(entry.get("arguments")),
            }
            for entry in _entries(whole, "function.call")
        ],
        "finish_reason": None,
        "model": next((entry["model"] for entry in _entries(whole) if entry.get("model")), None),
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    named = {"model": new["model"]} if new.get("model") else {}
    said = _entries(whole, "message.output")
    if not same(old["content"], new.get("content")):
        entry = {"object": "entry", "type": "message.output", "role": "assistant", "id": f"msg_{tag}"}
        said = [{**entry, **named, "content": str(new["content"])}] if new.get("content") else []

    def make(call: Answer, n: int, before: Any) -> Any:
        kept = before or {"object": "entry", "type": "function.call", "id": f"fc_{tag}_{n}", **named}
        id = call.get("id") or kept.get("tool_call_id") or f"{tag}{n}"
        return {
            **kept,
            "tool_call_id": id,
            "name": call["name"],
            "arguments": dumped(call.get("input") or {}),
        }

    raw = _entries(whole, "function.call")
    calls = rewritten(old["tool_calls"], new.get("tool_calls"), raw, make)
    others = [one for one in _entries(whole) if one.get("type") not in ("message.output", "function.call")]
    return {**whole, "outputs": [*others, *said, *calls]}


def _stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    yield _event("conversation.response.started", {"conversation_id": whole.get("conversation_id")})
    for index, entry in enumerate(_entries(whole)):
        at: Whole = {name: entry[name] for name in ("id", "model", "agent_id") if name in entry}
        at["output_index"] = index
        kind = str(entry.get("type"))
        if kind == "function.call":
            told = {"name": entry.get("name"), "tool_call_id": entry.get("tool_call_id")}
            given = {"arguments": dumped(entry.get("arguments") or {})}
            yield _event("function.call.delta", {**at, **told, **given})
        elif kind == "message.output":
            for place, piece in _pieces(entry.get("content")):
                said = {"role": "assistant", "content_index": place, "content": piece}
                yield _event("message.output.delta", {**at, **said})
        else:
            told = {name: value for name, value in entry.items() if name not in ("type", "object")}
            yield _event(f"{kind}.done", {**told, **at})
    yield _event("conversation.response.done", {"usage": whole.get("usage") or dict(_USAGE)})


def _pieces(content: Any) -> Iterator[tuple[int, Any]]:
    """Words of texts, other parts as they are; each with the number of its part."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    for place, part in enumerate(parts):
        for piece in cut(part["text"]) if part.keys() == {"type", "text"} else [part]:
            yield place, piece


def _event(name: str, data: Whole) -> bytes:
    return sse({"type": name, **data}, name)


DIALECT = Dialect(_made, _read, _write, put_together, _stream)
