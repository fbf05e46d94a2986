"""Traces of the OpenAI Agents SDK, as their `export()` gives them to a processor: a line or an item each, in
the order in which they ended, the inner ones first.

What a model read and gave is in spans of chat completions alone; of the Responses API the SDK exports the id
of the answer and its tokens.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing import otlp
from lctl.importing.draft import Draft
from lctl.importing.requests import messages_in
from lctl.importing.source import Source
from lctl.importing.spans import time_of
from lctl.importing.usages import counts_of
from lctl.importing.values import as_json, mapping, text, without
from lctl.spans import conventions as names
from lctl.spans.messages import value_of
from lctl.spans.span import Span

#: What the SDK says of a call that failed, and of the agent around it: it is one failure.
_PASSED = frozenset({"Error getting response", "Error in agent run"})
_SPAN, _TRACE = "trace.span", "trace"
#: Type of a span -> a step's kind, as OpenInference names it.
_KINDS = {
    "generation": "llm", "response": "llm", "function": "tool", "agent": "agent", "guardrail": "guardrail",
}  # fmt: skip


def sees(source: Source) -> str:
    is_one = any(
        row.value.get("object") == _SPAN and isinstance(row.value.get("span_data"), dict)
        for row in source.rows[:20]
    )
    return "spans with span_data" if is_one else ""


def read(source: Source, draft: Draft) -> None:
    spans = [_span(row.value) for row in source.rows if row.value.get("object") == _SPAN]
    if not spans:
        raise NotImportable(f"{source.name}: no spans, as the OpenAI Agents SDK exports them")
    traces = [without(row.value, "object") for row in source.rows if row.value.get("object") == _TRACE]
    others = len(source.rows) - len(spans) - len(traces)
    if others:
        draft.lose("row that is no span and no trace", count=others)
    if traces:
        draft.about["trace" if len(traces) == 1 else "workflows"] = traces[0] if len(traces) == 1 else traces
    otlp.fill(sorted(spans, key=lambda span: (span.start_ns, -span.end_ns)), draft, source.name)


def _span(one: dict[str, Any]) -> Span:
    data = mapping(one.get("span_data"))
    type = text(data.get("type"))
    kind = _KINDS.get(type, "chain")
    name = text(data.get("name")) or type
    said: dict[str, Any] = {"openinference.span.kind": kind.upper()}
    if kind == "llm":
        said |= _call(data)
        name = ""
    elif kind == "tool":
        said[names.TOOL_NAME] = name
        said[names.TOOL_ARGUMENTS] = value_of(data.get("input"))
        said[names.TOOL_RESULT] = value_of(data.get("output"))
    else:
        if kind == "agent":
            said[names.AGENT_NAME] = name
        said["span_data"] = without(data, "type", "name")
    return Span(
        text(one.get("trace_id")), text(one.get("id")), text(one.get("parent_id")), name,
        time_of(one.get("started_at")), time_of(one.get("ended_at")),
        {key: value for key, value in said.items() if value not in (None, "", {}, [])},
        error=_error(one.get("error")), scope="openai-agents",
    )  # fmt: skip


def _call(data: dict[str, Any]) -> dict[str, Any]:
    asked, given = messages_in(data.get("input"), "user"), messages_in(data.get("output"), "assistant")
    params = without(mapping(data.get("model_config")), "base_url", "model_impl")
    return {
        names.RESPONSE_MODEL: text(data.get("model")),
        names.RESPONSE_ID: text(data.get("response_id")),
        names.MESSAGES: (asked or [], [_filled(one) for one in given or []]),
        "llm.invocation_parameters": params,
        **counts_of(mapping(data.get("usage"))),
    }


def _filled(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the fields that the SDK writes empty."""
    return {key: one for key, one in message.items() if key == "content" or one not in (None, [])}


def _error(error: Any) -> str:
    """Its message, with what stands beside it."""
    told = mapping(error)
    if not told:
        return text(error)
    if text(told.get("message")) in _PASSED and text(mapping(told.get("data")).get("error")):
        return text(told["data"]["error"])
    about = without(told, "message").get("data")
    words = text(told.get("message")) or "error"
    return f"{words}: {as_json(mapping(about).get('error') or about)}" if about else words
