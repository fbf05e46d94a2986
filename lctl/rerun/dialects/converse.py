"""Bedrock's Converse, whole or in the frames of AWS's event stream; Nova's own form is the same."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import orjson

from lctl.instrument.codecs import aws
from lctl.instrument.codecs.bedrock import read_frames
from lctl.instrument.codecs.bodies import objects
from lctl.patch import Unaddressed
from lctl.patch.changing import same
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, cut, reason_in, rewritten


def _made(model: str, tag: str) -> Whole:
    message: dict[str, Any] = {"role": "assistant", "content": []}
    usage = {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}
    return {
        "output": {"message": message},
        "stopReason": "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 0},
    }


def _message(whole: Whole) -> dict[str, Any]:
    output = whole.get("output")
    message = output.get("message") if isinstance(output, dict) else None
    if not isinstance(message, dict):
        raise Unaddressed("the recorded response holds no answer")
    return message


def _read(whole: Whole) -> Answer:
    blocks = objects(_message(whole).get("content"))
    texts = [str(block["text"]) for block in blocks if "text" in block]
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {"id": use.get("toolUseId"), "name": use.get("name"), "input": use.get("input")}
            for block in blocks
            if isinstance(use := block.get("toolUse"), dict)
        ],
        "finish_reason": whole.get("stopReason"),
        "model": None,
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    """The thoughts stay first, then comes the text, then the calls."""
    message = _message(whole)
    blocks = objects(message.get("content"))
    said = [block for block in blocks if "text" in block]
    if not same(old["content"], new.get("content")):
        said = [{"text": str(new["content"])}] if new.get("content") else []

    def make(call: Answer, n: int, before: Any) -> Any:
        use = (before or {}).get("toolUse") or {}
        id = call.get("id") or use.get("toolUseId") or f"tooluse_{tag}_{n}"
        return {"toolUse": {**use, "toolUseId": id, "name": call["name"], "input": call.get("input") or {}}}

    raw = [block for block in blocks if "toolUse" in block]
    calls = rewritten(old["tool_calls"], new.get("tool_calls"), raw, make)
    others = [block for block in blocks if "text" not in block and "toolUse" not in block]
    message = {**message, "content": [*others, *said, *calls]}
    reason = reason_in("converse", new.get("finish_reason") or "stop")
    return {**whole, "output": {**whole["output"], "message": message}, "stopReason": reason}


def _gather(events: list[dict[str, Any]]) -> Whole:
    answer = read_frames([(str(event["kind"]), event["event"]) for event in events])
    message = answer.messages[0] if answer.messages else {"role": "assistant", "content": []}
    about: Whole = next((event["event"] for event in events if event["kind"] == "metadata"), {})
    kept = ("metrics", "trace", "performanceConfig")
    told: Whole = {name: about[name] for name in kept if name in about}
    usage = dict(answer.usage or {})
    return {**told, "output": {"message": message}, "stopReason": answer.finish_reason, "usage": usage}


def _stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    yield aws.frame("messageStart", {"role": "assistant"})
    for index, block in enumerate(objects(_message(whole).get("content"))):
        at = {"contentBlockIndex": index}
        use, thought = block.get("toolUse"), block.get("reasoningContent")
        if isinstance(use, dict):
            begun = {name: value for name, value in use.items() if name != "input"}
            yield aws.frame("contentBlockStart", {**at, "start": {"toolUse": begun}})
            given = orjson.dumps(use.get("input") or {}).decode()
            yield aws.frame("contentBlockDelta", {**at, "delta": {"toolUse": {"input": given}}})
        elif isinstance(thought, dict):
            told = thought.get("reasoningText") or thought
            for name, value in told.items():
                yield aws.frame("contentBlockDelta", {**at, "delta": {"reasoningContent": {name: value}}})
        elif "text" in block:
            for piece in cut(block["text"]):
                yield aws.frame("contentBlockDelta", {**at, "delta": {"text": piece}})
        else:
            yield aws.frame("contentBlockDelta", {**at, "delta": block})
        yield aws.frame("contentBlockStop", at)
    yield aws.frame("messageStop", {"stopReason": whole.get("stopReason")})
    told = ("usage", "metrics", "trace", "performanceConfig")
    about: Whole = {name: whole[name] for name in told if name in whole}
    yield aws.frame("metadata", about)


def sealed(frames: Iterator[bytes]) -> Iterator[bytes]:
    """The same as InvokeModelWithResponseStream sends it: each event by its name, in base64."""
    for frame in frames:
        for kind, event in aws.read_frames(frame):
            inner = base64.b64encode(orjson.dumps({kind: event})).decode()
            yield aws.frame("chunk", {"bytes": inner})


DIALECT = Dialect(_made, _read, _write, _gather, _stream, "application/vnd.amazon.eventstream")
