"""Logs of Braintrust: rows of its API (`{"events": [...]}`, `{"data": [...]}` of a query, or a row each) as
its SDK writes them.

A row is a span: a step, one of type `llm` a model call, one of type `tool` a tool's run.
"""

from __future__ import annotations

from typing import Any

from lctl.errors import NotImportable
from lctl.importing import otlp
from lctl.importing.draft import Draft
from lctl.importing.pages import listed
from lctl.importing.requests import messages_in
from lctl.importing.source import Source
from lctl.importing.spans import time_of
from lctl.importing.values import as_json, dicts, items, mapping, text, without
from lctl.spans import conventions as names
from lctl.spans.messages import value_of
from lctl.spans.span import Span

#: Type of a span -> a step's kind, as OpenInference names it; others are steps of a chain.
_KINDS = {"llm": "llm", "tool": "tool", "score": "evaluator"}
#: What is an object, and text of JSON where a query's result or an export to a bucket was made a table.
_OBJECTS = (
    "span_attributes",
    "span_parents",
    "metrics",
    "metadata",
    "scores",
    "tags",
    "input",
    "output",
    "error",
)
_COUNTS = {
    names.INPUT_TOKENS: "prompt_tokens",
    names.OUTPUT_TOKENS: "completion_tokens",
    names.CACHE_READ: "prompt_cached_tokens",
    names.CACHE_WRITE: "prompt_cache_creation_tokens",
    names.REASONING: "completion_reasoning_tokens",
}
#: Of a call's metadata, what is no parameter of the request.
_NO_PARAMS = (
    "provider", "model", "tools", "instructions", "id", "status", "created_at", "object", "stream",
    "usage_service_tier",
)  # fmt: skip


def sees(source: Source) -> str:
    found = _rows(source)
    is_one = bool(found) and {"span_attributes", "root_span_id"} <= found[0].keys()
    return "rows with span_attributes and root_span_id" if is_one else ""


def read(source: Source, draft: Draft) -> None:
    rows = [_told(row) for row in _rows(source) if "span_attributes" in row]
    if not rows:
        raise NotImportable(f"{source.name}: no rows with span_attributes, as Braintrust's logs have")
    spans = []
    for row in rows:
        if dicts(row.get("scores")) or mapping(row.get("scores")):
            draft.lose("scores of a row", text(row.get("id")))
        if not _is_item(row):
            spans.append(_span(row))
    otlp.fill(sorted(spans, key=lambda span: (span.start_ns, -span.end_ns)), draft, source.name)
    if source.rows and text(source.rows[-1].value.get("cursor")):
        draft.lose("pages after the last one in the file", "cursor")


def _rows(source: Source) -> list[dict[str, Any]]:
    return listed(source, "events", "data")


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """The row, whose objects are text where it stood in a table."""
    if not isinstance(row.get("span_attributes"), str):
        return row
    return {key: value_of(one) if key in _OBJECTS else one for key, one in row.items()}


def _is_item(row: dict[str, Any]) -> bool:
    """Whether it is a call in an answer of the Responses API, which the SDK writes as a tool's span."""
    return "tool_type" in mapping(row.get("metadata")) and row.get("output") is None


def _span(row: dict[str, Any]) -> Span:
    about, measured = mapping(row.get("span_attributes")), mapping(row.get("metrics"))
    kind = _KINDS.get(text(about.get("type")), "chain")
    name = text(about.get("name"))
    said: dict[str, Any] = {"openinference.span.kind": kind.upper()}
    if kind == "llm":
        said |= _call(row, measured)
    elif kind == "tool":
        said |= {
            names.TOOL_NAME: name,
            names.TOOL_ARGUMENTS: row.get("input"),
            names.TOOL_RESULT: row.get("output"),
        }
    else:
        said |= {"input.value": row.get("input"), "output.value": row.get("output")}
    said["braintrust"] = without({key: row.get(key) for key in ("metadata", "tags", "scores")})
    failed = row.get("error")
    return Span(
        text(row.get("root_span_id")),
        text(row.get("span_id")),
        text(next(iter(items(row.get("span_parents"))), "")),
        name,
        time_of(measured.get("start")) or time_of(row.get("created")),
        time_of(measured.get("end")),
        {key: value for key, value in said.items() if value not in (None, "", {}, [])},
        error=as_json(failed) if failed else "",
        scope="braintrust",
    )


def _call(row: dict[str, Any], measured: dict[str, Any]) -> dict[str, Any]:
    about = mapping(row.get("metadata"))
    read, reasons = messages_in(row.get("input"), "user") or [], []
    choices = [mapping(one.get("message")) for one in dicts(row.get("output"))]
    if choices and all(choices):
        reasons = [one.get("finish_reason") for one in dicts(row["output"])]
        gave = [{key: one for key, one in said.items() if key == "content" or one} for said in choices]
    else:
        gave = messages_in(row.get("output"), "assistant") or []
    if text(about.get("instructions")):
        read = [{"role": "system", "content": about["instructions"]}, *read]
    if about.get("provider") == "anthropic" and read and read[-1].get("role") == "system":
        read = [read[-1], *read[:-1]]  # the SDK puts a call's instructions behind its messages
    counts = {name: measured.get(key) for name, key in _COUNTS.items()}
    return {
        names.MESSAGES: (read, gave),
        names.RESPONSE_MODEL: text(about.get("model")),
        names.PROVIDER: text(about.get("provider")),
        names.RESPONSE_ID: text(about.get("id")),
        names.FINISH_REASONS: [one for one in reasons or [about.get("status")] if one],
        names.TOOL_DEFINITIONS: dicts(about.get("tools")),
        "llm.invocation_parameters": without(about, *_NO_PARAMS),
        names.REQUEST_STREAM: about.get("stream"),
        names.FIRST_CHUNK: measured.get("time_to_first_token") if about.get("stream") is True else None,
        **{name: int(one) for name, one in counts.items() if isinstance(one, int | float)},
    }
