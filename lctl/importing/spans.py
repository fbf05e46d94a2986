"""Spans of OpenTelemetry as they are written: OTLP/JSON, as SDKs print them, or attributes alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from lctl.importing.source import Source
from lctl.importing.values import dicts, items, mapping, text

#: Attributes that make a span one of a model's: OpenTelemetry's conventions, OpenInference, the AI SDK.
MARKS = ("gen_ai.", "llm.", "ai.prompt", "ai.response.")


class Span(NamedTuple):
    """One span. Times are as the source has them: numbers since the epoch, 0 where it has none."""

    id: str
    trace: str
    parent: str
    name: str
    start: float
    end: float
    attributes: dict[str, Any]
    error: str

    @property
    def is_model(self) -> bool:
        return any(key.startswith(MARKS) for key in self.attributes)


def spans(source: Source) -> list[Span]:
    """Every span, by its start."""
    found = [span for row in source.rows for span in _of(row.value)]
    return sorted(found, key=lambda span: (span.start, span.end))


def _of(value: dict[str, Any]) -> Iterator[Span]:
    resources = dicts(value.get("resourceSpans")) or dicts(value.get("resource_spans"))
    if resources:
        for resource in resources:
            for scope in dicts(resource.get("scopeSpans")) or dicts(resource.get("scope_spans")):
                yield from map(_otlp, dicts(scope.get("spans")))
    elif isinstance(value.get("attributes"), dict):
        yield _plain(value)
    elif any(str(key).startswith(("gen_ai.", "llm.")) for key in value):
        yield Span("", "", "", "", 0, 0, value, "")


def _otlp(span: dict[str, Any]) -> Span:
    attributes = {text(one.get("key")): _value(one.get("value")) for one in dicts(span.get("attributes"))}
    status = mapping(span.get("status"))
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return Span(
        text(span.get("spanId")),
        text(span.get("traceId")),
        text(span.get("parentSpanId")),
        text(span.get("name")),
        _number(span.get("startTimeUnixNano")),
        _number(span.get("endTimeUnixNano")),
        attributes,
        (text(status.get("message")) or "error") if failed else "",
    )


def _plain(span: dict[str, Any]) -> Span:
    """As SDKs print spans: times are [seconds, nanoseconds], nanoseconds, or ISO texts left out."""
    context = mapping(span.get("spanContext")) or mapping(span.get("context"))
    status = mapping(span.get("status"))
    failed = status.get("code") in (2, "ERROR") or status.get("status_code") == "ERROR"
    return Span(
        text(context.get("spanId")) or text(context.get("span_id")),
        text(context.get("traceId")) or text(context.get("trace_id")),
        text(span.get("parentSpanId")) or text(span.get("parent_id")),
        text(span.get("name")),
        _number(span.get("startTime")),
        _number(span.get("endTime")),
        span["attributes"],
        (text(status.get("message")) or text(status.get("description")) or "error") if failed else "",
    )


def _value(value: Any) -> Any:
    """An attribute's value, of OTLP's tagged ones."""
    held = mapping(value)
    if "arrayValue" in held:
        return [_value(one) for one in items(mapping(held["arrayValue"]).get("values"))]
    if "kvlistValue" in held:
        pairs = dicts(mapping(held["kvlistValue"]).get("values"))
        return {text(one.get("key")): _value(one.get("value")) for one in pairs}
    if "intValue" in held:
        return int(_number(held["intValue"]))
    return next(iter(held.values()), None)


def _number(value: Any) -> float:
    if isinstance(value, list) and len(value) == 2:
        return _number(value[0]) + _number(value[1]) / 1e9
    try:
        return float(value) if isinstance(value, int | float | str) and value != "" else 0.0
    except ValueError:
        return 0.0
