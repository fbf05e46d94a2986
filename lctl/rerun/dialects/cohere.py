"""Cohere's chat, version 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from lctl.instrument.codecs import find as find_codec
from lctl.instrument.codecs.bodies import objects
from lctl.patch import Unaddressed
from lctl.patch.changing import same
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, cut, dumped, loaded, reason_in, rewritten, sse


def _made(model: str, tag: str) -> Whole:
    usage = {"billed_units": {}, "tokens": {"input_tokens": 0, "output_tokens": 0}}
    message: dict[str, Any] = {"role": "assistant", "content": []}
    return {"id": tag, "message": message, "finish_reason": "COMPLETE", "usage": usage}


def _message(whole: Whole) -> dict[str, Any]:
    message = whole.get("message")
    if not isinstance(message, dict):
        raise Unaddressed("the recorded response holds no answer")
    return message


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _read(whole: Whole) -> Answer:
    message = _message(whole)
    texts = [str(block.get("text") or "") for block in _blocks(message) if block.get("type") == "text"]
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {
                "id": call.get("id"),
                "name": call["function"].get("name"),
                "input": loaded(call["function"].get("arguments")),
            }
            for call in objects(message.get("tool_calls"))
            if isinstance(call.get("function"), dict)
        ],
        "finish_reason": whole.get("finish_reason"),
        "model": whole.get("model"),
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    message = dict(_message(whole))
    if not same(old["content"], new.get("content")):
        kept = [block for block in _blocks(message) if block.get("type") != "text"]
        said = [{"type": "text", "text": str(new["content"])}] if new.get("content") else []
        message["content"] = [*kept, *said]

    def make(call: Answer, n: int, before: Any) -> Any:
        id = call.get("id") or (before or {}).get("id") or f"{call['name']}_{tag}_{n}"
        function = {"name": call["name"], "arguments": dumped(call.get("input") or {})}
        return {"id": id, "type": "function", "function": function}

    raw = objects(message.pop("tool_calls", None))
    calls = rewritten(old["tool_calls"], new.get("tool_calls"), raw, make)
    if calls:
        message["tool_calls"] = calls
    else:
        message.pop("tool_plan", None)
    reason = reason_in("cohere", new.get("finish_reason") or "stop")
    return {**whole, "message": message, "finish_reason": reason}


def _gather(events: list[dict[str, Any]]) -> Whole:
    found = find_codec("POST", "/v2/chat", {})
    assert found is not None
    stream = b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events)
    answer = found[0].read_answer("cohere.chat", 200, {"content-type": "text/event-stream"}, [stream])
    message = answer.messages[0] if answer.messages else {}
    usage = answer.usage or {}
    return {
        "id": answer.response_id,
        "message": message,
        "finish_reason": answer.finish_reason,
        "usage": usage,
    }


def _stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    message = _message(whole)
    yield _event("message-start", {"message": {"role": "assistant"}}, id=whole.get("id"))
    for piece in cut(message.get("tool_plan")):
        yield _event("tool-plan-delta", {"message": {"tool_plan": piece}})
    for n, block in enumerate(_blocks(message)):
        key = "thinking" if block.get("type") == "thinking" else "text"
        yield _event("content-start", {"message": {"content": {**block, key: ""}}}, index=n)
        for piece in cut(block.get(key)):
            yield _event("content-delta", {"message": {"content": {key: piece}}}, index=n)
        yield _event("content-end", None, index=n)
    for n, call in enumerate(objects(message.get("tool_calls"))):
        function = call["function"]
        begun = {**call, "function": {**function, "arguments": ""}}
        told = {"message": {"tool_calls": {"function": {"arguments": function.get("arguments")}}}}
        yield _event("tool-call-start", {"message": {"tool_calls": begun}}, index=n)
        yield _event("tool-call-delta", told, index=n)
        yield _event("tool-call-end", None, index=n)
    yield _event("message-end", {name: whole.get(name) for name in ("finish_reason", "usage")})


def _event(kind: str, delta: dict[str, Any] | None, **more: Any) -> bytes:
    return sse({"type": kind, **more, **({} if delta is None else {"delta": delta})}, kind)


DIALECT = Dialect(_made, _read, _write, _gather, _stream)
