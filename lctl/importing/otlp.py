"""Model calls in traces of OpenTelemetry: GenAI conventions, OpenInference, OpenLLMetry, Vercel's AI SDK.

Each span of a model is a call with the messages it read and gave. A call's prompt is found again among the
messages before it, so that the calls of one conversation are one path.
"""

from __future__ import annotations

import re
from typing import Any

from lctl.codec.lines import decode
from lctl.errors import NotImportable
from lctl.importing.draft import Call, Draft
from lctl.importing.growing import Growing
from lctl.importing.source import Source
from lctl.importing.spans import Span, spans
from lctl.importing.values import as_json, dicts, function_call, text, tokens

Messages = list[dict[str, Any]]
_INDEXED = re.compile(
    r"(?:llm\.(input|output)_messages|gen_ai\.(prompt|completion))\.(\d+)\.(?:message\.)?(.+)"
)
_CALLS = re.compile(r"tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_PARTS = re.compile(r"contents\.(\d+)\.message_content\.(.+)")


def sees(source: Source) -> str:
    if any("resourceSpans" in row.value for row in source.rows[:3]):
        return "OTLP spans (resourceSpans)"
    return "spans with attributes of model calls" if any(span.is_model for span in spans(source)) else ""


def read(source: Source, draft: Draft) -> None:
    found = spans(source)
    if not found:
        raise NotImportable(f"{source.name}: no spans, as OpenTelemetry exports them")
    growing = Growing(draft)
    for span in found:
        where = f"span {span.id or span.name or '?'}"
        if not span.is_model:
            draft.lose("span that is no model call", where)
            continue
        prompt, answers = _messages(span.attributes)
        if not prompt and not answers:
            draft.lose("model span without messages (content was not traced, or another span has it)", where)
            continue
        if not answers and not span.error:
            draft.lose("call without an answer in its span; only what it read", where)
        growing.call(
            prompt, answers, _call(span), at=span.end or span.start or None, where=where,
            details={"span": {"id": span.id, "trace": span.trace, "name": span.name}},
        )  # fmt: skip


#: Where each convention keeps what a call was; the first one that is there stands.
_MODEL = (
    *("gen_ai.response.model", "llm.response.model_name", "ai.response.model"),
    *("llm.model_name", "gen_ai.request.model", "ai.model.id"),
)
_PROVIDER = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system")
_REASON = ("gen_ai.response.finish_reasons", "llm.finish_reason", "ai.response.finishReason")
_TOKENS = {
    "input": ("gen_ai.usage.input_tokens", "llm.token_count.prompt", "ai.usage.promptTokens"),
    "output": ("gen_ai.usage.output_tokens", "llm.token_count.completion", "ai.usage.completionTokens"),
    "cache_read": ("gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"),
    "reasoning": ("gen_ai.usage.reasoning_tokens", "llm.token_count.completion_details.reasoning"),
}


def _call(span: Span) -> Call:
    said = span.attributes
    reason = _first(said, _REASON)
    took = (span.end - span.start) / (1e6 if span.start > 1e14 else 1e-3) if span.end and span.start else None
    return Call(
        model=text(_first(said, _MODEL)) or None,
        provider=text(_first(said, _PROVIDER)).partition(".")[0] or None,
        tokens=tokens(**{name: _first(said, keys) for name, keys in _TOKENS.items()}),
        finish_reason=text(next(iter(reason), None) if isinstance(reason, list) else reason) or None,
        duration_ms=round(took, 3) if took is not None and took >= 0 else None,
        response_id=text(_first(said, ("gen_ai.response.id", "ai.response.id"))) or None,
        error=span.error or None,
    )


def _first(said: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((said[name] for name in names if said.get(name) not in (None, "")), None)


def _messages(said: dict[str, Any]) -> tuple[Messages, Messages]:
    """What a call read and what it answered, by the convention that its span keeps."""
    if "gen_ai.input.messages" in said or "gen_ai.output.messages" in said:
        system = _parted({"role": "system", "parts": _json(said.get("gen_ai.system_instructions"))})
        first = [one for one in system if one.get("content")]
        return (
            first + [m for one in dicts(_json(said.get("gen_ai.input.messages"))) for m in _parted(one)],
            [m for one in dicts(_json(said.get("gen_ai.output.messages"))) for m in _parted(one)],
        )
    if "ai.prompt.messages" in said:
        return dicts(_json(said["ai.prompt.messages"])), _vercel(said)
    held: dict[str, dict[int, dict[str, Any]]] = {"in": {}, "out": {}}
    for key, value in said.items():
        match = _INDEXED.fullmatch(key)
        if match is not None:
            side = "in" if match[1] == "input" or match[2] == "prompt" else "out"
            held[side].setdefault(int(match[3]), {})[match[4]] = value
    return (
        [_flat(held["in"][n], "user") for n in sorted(held["in"])],
        [_flat(held["out"][n], "assistant") for n in sorted(held["out"])],
    )


def _parted(message: dict[str, Any]) -> Messages:
    """A message of the GenAI conventions in OpenAI's form; each tool's response one of its own."""
    parts = dicts(message.get("parts"))
    role = text(message.get("role")) or "user"
    if "parts" not in message:
        return [message]
    results = [
        {
            "role": "tool",
            "tool_call_id": text(part.get("id")),
            "content": as_json(part.get("response", part.get("result"))),
        }
        for part in parts
        if part.get("type") == "tool_call_response"
    ]
    calls = [
        function_call(text(part.get("id")), text(part.get("name")), part.get("arguments", {}))
        for part in parts
        if part.get("type") == "tool_call"
    ]
    rest = [part for part in parts if part.get("type") not in ("tool_call", "tool_call_response")]
    if results and not calls and not rest:
        return results
    said: dict[str, Any] = {"role": role, "content": _content(rest)}
    if calls:
        said["tool_calls"] = calls
    return [*results, said]


def _content(parts: Messages) -> Any:
    if not parts:
        return None
    if all(part.get("type") == "text" for part in parts):
        return "".join(text(part.get("content")) or text(part.get("text")) for part in parts)
    return [
        {"type": "text", "text": part.get("content")}
        if part.get("type") == "text" and "content" in part
        else part
        for part in parts
    ]


def _flat(fields: dict[str, Any], role: str) -> dict[str, Any]:
    """A message whose fields are attributes of their own."""
    message: dict[str, Any] = {"role": text(fields.get("role")) or role, "content": fields.get("content")}
    calls: dict[int, dict[str, Any]] = {}
    parts: dict[int, dict[str, Any]] = {}
    for key, value in fields.items():
        if match := _CALLS.fullmatch(key):
            calls.setdefault(int(match[1]), {})[match[2]] = value
        elif match := _PARTS.fullmatch(key):
            parts.setdefault(int(match[1]), {})[match[2]] = value
    if parts and not message["content"]:
        ordered = [_part(parts[n]) for n in sorted(parts)]
        only = len(ordered) == 1 and ordered[0].get("type") == "text"
        message["content"] = ordered[0].get("text") if only else ordered
    if calls:
        message["tool_calls"] = [
            function_call(text(one.get("id")), text(one.get("name")), one.get("arguments", ""))
            for _, one in sorted(calls.items())
        ]
    elif fields.get("function_call_name"):
        arguments = as_json(fields.get("function_call_arguments_json", ""))
        message["function_call"] = {"name": fields["function_call_name"], "arguments": arguments}
    if fields.get("tool_call_id"):
        message["tool_call_id"] = text(fields["tool_call_id"])
    return message


def _part(fields: dict[str, Any]) -> dict[str, Any]:
    if "image.image.url" in fields:
        return {"type": "image_url", "image_url": {"url": fields["image.image.url"]}}
    return fields


def _vercel(said: dict[str, Any]) -> Messages:
    message: dict[str, Any] = {"role": "assistant", "content": said.get("ai.response.text")}
    calls = dicts(_json(said.get("ai.response.toolCalls")))
    if calls:
        message["tool_calls"] = [
            function_call(
                text(one.get("toolCallId")), text(one.get("toolName")), one.get("input", one.get("args", {}))
            )
            for one in calls
        ]
    if "ai.response.object" in said:
        message["content"] = said["ai.response.object"]
    return [message] if message["content"] or calls else []


def _json(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return decode(value.encode())
        except ValueError:
            return value
    return value
