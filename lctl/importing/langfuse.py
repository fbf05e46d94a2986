"""Trace exports of Langfuse: a trace and its observations. Each generation is a model call; its input is
found again among the messages before it, so that calls of one conversation are one path."""

from __future__ import annotations

from typing import Any

from lctl.codec.lines import decode
from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.growing import Growing
from lctl.importing.source import Source
from lctl.importing.values import as_json, dicts, mapping, text, tokens, without
from lctl.state.messages import tool_calls_of
from lctl.state.moments import elapsed_ms


def sees(source: Source) -> str:
    whole = mapping(source.document)
    found = dicts(whole.get("observations")) or dicts(mapping(whole.get("trace")).get("observations"))
    return "a trace with observations" if found and "type" in found[0] and "traceId" in found[0] else ""


def read(source: Source, draft: Draft) -> None:
    whole = mapping(source.document)
    trace = mapping(whole.get("trace")) or whole
    observations = dicts(whole.get("observations")) or dicts(trace.get("observations"))
    if not observations:
        raise NotImportable(f"{source.name}: no observations, as an export of Langfuse has")
    draft.agent = text(trace.get("name")) or "langfuse"
    draft.about["trace"] = without(trace, "input", "output", "observations", "metadata", "scores")
    growing = Growing(draft)
    calls = {text(one.get("id")) for one in observations if one.get("type") == "GENERATION"} - {""}
    for one in sorted(observations, key=lambda one: (text(one.get("startTime")), text(one.get("endTime")))):
        if one.get("type") == "GENERATION" and text(one.get("parentObservationId")) in calls:
            draft.lose("generation inside another: the same call, told twice", f"observation {one.get('id')}")
        elif one.get("type") == "GENERATION":
            _generation(draft, growing, one)
        elif not _ran(draft, growing, one):
            draft.lose(
                f"{text(one.get('type')).lower() or 'untyped'} observation: no message", text(one.get("name"))
            )
    last = draft.said[-1].id if draft.said else None
    for score in dicts(trace.get("scores")):
        value = score.get("value")
        words = f"{text(score.get('name'))}: {value if value is not None else score.get('stringValue')}"
        if score.get("comment"):
            words += f" ({score['comment']})"
        draft.fact(
            f"score:{score.get('id')}", words, last, value=value, source="langfuse", at=score.get("timestamp")
        )


def _generation(draft: Draft, growing: Growing, one: dict[str, Any]) -> None:
    where = f"observation {one.get('id')}"
    prompt, answers = _messages(one.get("input"), "user"), _messages(one.get("output"), "assistant")
    if answers is None:
        draft.lose("generation whose output is no message", where)
        return
    if prompt is None:
        draft.lose("generation whose input is no messages; put after what was said before it", where)
    usage = mapping(one.get("usageDetails"))
    start, end = text(one.get("startTime")), text(one.get("endTime"))
    call = Call(
        model=text(one.get("model")) or None,
        tokens=tokens(input=usage.get("input"), output=usage.get("output")),
        duration_ms=elapsed_ms(start, end),
        params=without(mapping(one.get("modelParameters"))) or None,
        error=text(one.get("statusMessage")) or None if one.get("level") == "ERROR" else None,
    )
    growing.call(prompt, answers, call, at=end or start, where=where, details={"observation": one.get("id")})


def _ran(draft: Draft, growing: Growing, one: dict[str, Any]) -> bool:
    """A tool's run as the result of the call that asked for it: same name, same input. False if none did."""
    name, given = text(one.get("name")), _value(one.get("input"))
    given = mapping(given).get("input", given)
    for said in reversed(draft.said):
        for asked in tool_calls_of(said.message):
            answered = any(other.message.get("tool_call_id") == asked["id"] for other in draft.said)
            if asked["id"] and asked["name"] == name and asked["arguments"] == given and not answered:
                result = {"role": "tool", "tool_call_id": asked["id"], "content": _output(one.get("output"))}
                growing.after(result, at=one.get("endTime"), details={"observation": one.get("id")})
                return True
    return False


def _output(value: Any) -> Any:
    """What the model read of a tool's output: its parts, else the text as it is."""
    parts = mapping(_value(value)).get("content")
    return parts if isinstance(parts, list) else as_json(value)


def _value(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return decode(value.encode())
        except ValueError:
            return value
    return value


def _messages(value: Any, role: str) -> list[dict[str, Any]] | None:
    """The messages that an observation's input or output is; None where it is none that can be read."""
    value = _value(value)
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value else None
    if isinstance(value, dict):
        if isinstance(value.get("role"), str) and "content" in value:
            return [value]
        for key in ("messages", "message"):
            inner = value.get(key)
            listed = dicts(inner) or ([inner] if isinstance(inner, dict) else [])
            if listed and all(isinstance(message.get("role"), str) for message in listed):
                return listed
        choices = [mapping(choice.get("message")) for choice in dicts(value.get("choices"))]
        return choices if choices and all("role" in message for message in choices) else None
    listed = dicts(value)
    return listed if listed and all(isinstance(message.get("role"), str) for message in listed) else None
