"""Ollama's chat. A stream is a line of JSON for each piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from lctl.instrument.codecs import find as find_codec
from lctl.instrument.codecs.bodies import objects
from lctl.patch import Unaddressed
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, cut, reason_in, rewritten

_EPOCH = "1970-01-01T00:00:00Z"
#: What each line says.
_HEAD = ("model", "created_at")


def _made(model: str, tag: str) -> Whole:
    message = {"role": "assistant", "content": ""}
    counts = {"prompt_eval_count": 0, "eval_count": 0}
    head = {"model": model, "created_at": _EPOCH}
    return {**head, "message": message, "done": True, "done_reason": "stop", **counts}


def _message(whole: Whole) -> dict[str, Any]:
    message = whole.get("message")
    if not isinstance(message, dict):
        raise Unaddressed("the recorded response holds no answer")
    return message


def _read(whole: Whole) -> Answer:
    message = _message(whole)
    functions = [call.get("function") for call in objects(message.get("tool_calls"))]
    return {
        "content": message.get("content") or None,
        "tool_calls": [
            {"id": None, "name": function.get("name"), "input": function.get("arguments") or {}}
            for function in functions
            if isinstance(function, dict)
        ],
        "finish_reason": whole.get("done_reason"),
        "model": whole.get("model"),
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    message = {**_message(whole), "content": new.get("content") or ""}

    def make(call: Answer, n: int, before: Any) -> Any:
        return {**(before or {}), "function": {"name": call["name"], "arguments": call.get("input") or {}}}

    raw = objects(message.pop("tool_calls", None))
    calls = rewritten(old["tool_calls"], new.get("tool_calls"), raw, make)
    if calls:
        message["tool_calls"] = calls
    reason = reason_in("ollama", new.get("finish_reason") or "stop")
    return {**whole, "model": new.get("model"), "message": message, "done_reason": reason}


def _gather(events: list[dict[str, Any]]) -> Whole:
    found = find_codec("POST", "/api/chat", {})
    assert found is not None
    lines = b"".join(orjson.dumps(event) + b"\n" for event in events)
    answer = found[0].read_answer("ollama.chat", 200, {}, [lines])
    last = events[-1] if events else {}
    return {**last, "message": answer.messages[0] if answer.messages else {}}


def _stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    message = _message(whole)
    head = {name: whole[name] for name in _HEAD if name in whole}
    if message.get("thinking"):
        yield _line(head, {"thinking": message["thinking"]})
    for piece in cut(message.get("content")):
        yield _line(head, {"content": piece})
    if message.get("tool_calls"):
        yield _line(head, {"tool_calls": message["tool_calls"]})
    yield orjson.dumps({**whole, "message": {"role": "assistant", "content": ""}}) + b"\n"


def _line(head: dict[str, Any], said: dict[str, Any]) -> bytes:
    return (
        orjson.dumps({**head, "message": {"role": "assistant", "content": "", **said}, "done": False}) + b"\n"
    )


DIALECT = Dialect(_made, _read, _write, _gather, _stream, "application/x-ndjson")
