"""Google's interactions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.instrument.codecs.bodies import objects
from lctl.instrument.codecs.streamedsteps import StreamedSteps
from lctl.patch import Unaddressed
from lctl.patch.changing import same
from lctl.rerun.dialects.dialect import Answer, Dialect, Whole, cut, dumped, reason_in, rewritten, sse

_PIECE = 12  # characters of arguments in one event


def _made(model: str, tag: str) -> Whole:
    usage = {"total_input_tokens": 0, "total_output_tokens": 0, "total_tokens": 0}
    made = {"id": f"v1_{tag}", "object": "interaction", "status": "completed", "model": model}
    return {**made, "steps": [], "usage": usage}


def _steps(whole: Whole, kind: str = "") -> list[dict[str, Any]]:
    if not isinstance(whole.get("steps"), list):
        raise Unaddressed("the recorded response holds no answer")
    return [step for step in objects(whole["steps"]) if not kind or step.get("type") == kind]


def _said(step: dict[str, Any]) -> str:
    parts = objects(step.get("content"))
    return "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")


def _read(whole: Whole) -> Answer:
    texts = [_said(step) for step in _steps(whole, "model_output")]
    return {
        "content": "".join(texts) if texts else None,
        "tool_calls": [
            {"id": step.get("id"), "name": step.get("name"), "input": step.get("arguments") or {}}
            for step in _steps(whole, "function_call")
        ],
        "finish_reason": whole.get("status"),
        "model": whole.get("model"),
    }


def _write(whole: Whole, old: Answer, new: Answer, tag: str) -> Whole:
    outputs = _steps(whole, "model_output")
    if not same(old["content"], new.get("content")):
        part = {"type": "text", "text": new.get("content")}
        outputs = [{"type": "model_output", "content": [part]}] if new.get("content") else []

    def make(call: Answer, n: int, before: Any) -> Any:
        id = call.get("id") or (before or {}).get("id") or f"{tag}_{n}"
        return {"type": "function_call", "id": id, "name": call["name"], "arguments": call.get("input") or {}}

    raw = _steps(whole, "function_call")
    calls = rewritten(old["tool_calls"], new.get("tool_calls"), raw, make)
    others = [step for step in _steps(whole) if step.get("type") not in ("model_output", "function_call")]
    status = reason_in("interactions", new.get("finish_reason"))
    return {**whole, "model": new.get("model"), "status": status, "steps": [*others, *outputs, *calls]}


def _gather(events: list[dict[str, Any]]) -> Whole:
    whole: Whole = {}
    for event in events:
        if isinstance(event.get("interaction"), dict):
            whole.update(event["interaction"])
    return whole if whole.get("steps") else {**whole, "steps": StreamedSteps(events).steps()}


def _stream(whole: Whole, counted: bool) -> Iterator[bytes]:
    """Each step begins, grows, and stops; the last event has the counts."""
    final = {name: value for name, value in whole.items() if name != "steps"}
    begun = {name: value for name, value in final.items() if name != "usage"}
    yield _event("interaction.created", interaction={**begun, "status": "in_progress"})
    for index, step in enumerate(_steps(whole)):
        start, deltas = _grown(step)
        yield _event("step.start", index=index, step=start)
        for delta in deltas:
            yield _event("step.delta", index=index, delta=delta)
        yield _event("step.stop", index=index)
    yield _event("interaction.completed", interaction=final)
    yield b"event: done\ndata: [DONE]\n\n"


def _event(name: str, **data: Any) -> bytes:
    return sse({"event_type": name, **data}, name)


def _grown(step: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a step begins with, and the deltas that make it whole."""
    if step.get("type") == "function_call":
        text = dumped(step.get("arguments") or {})
        pieces = [text[n : n + _PIECE] for n in range(0, len(text), _PIECE)]
        deltas = [{"type": "arguments_delta", "arguments": piece} for piece in pieces]
        return {**step, "arguments": {}}, deltas
    content = objects(step.get("content"))
    if step.get("type") == "model_output" and all(set(part) == {"type", "text"} for part in content):
        texts = [piece for part in content for piece in cut(part["text"])]
        return {"type": "model_output"}, [{"type": "text", "text": text} for text in texts]
    return step, []


DIALECT = Dialect(_made, _read, _write, _gather, _stream)
