"""Spans of OpenTelemetry as they are written: OTLP in JSON or protobuf, as SDKs print them, or attributes
alone. They become `lctl.spans.Span` values; times that are not there are 0."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lctl.errors import NotImportable
from lctl.importing.source import Row, Source
from lctl.importing.values import dicts, items, mapping, said_number, text
from lctl.spans.otlp import from_binary
from lctl.spans.span import Link, Mark, Span, nanoseconds

#: Attributes that make a span one of a model's: OpenTelemetry's conventions, OpenInference, the AI SDK,
#: Langfuse.
MARKS = (
    "gen_ai.", "llm.", "ai.prompt", "ai.response.", "openinference.", "traceloop.", "langfuse.observation.",
    "lctl.",
)  # fmt: skip
#: Numbers from here on are nanoseconds, microseconds, milliseconds since the epoch; below, seconds.
_SNAKE = re.compile(r"_([a-z])")
_SCALES = ((10**17, 1), (10**14, 10**3), (10**11, 10**6))


def spans(source: Source, rows: Iterable[Row] | None = None) -> list[Span]:
    """Every span, by its start.

    Args:
        rows: the source's, where they are read otherwise than from it.

    Raises:
        MissingExtra: they are in protobuf, and it is not installed.
        NotImportable: what begins as protobuf is none.
    """
    if is_binary(source):
        try:
            found = list(_of(from_binary(source.data)))
        except ValueError as error:
            raise NotImportable(f"{source.name}: {error}") from None
    else:
        found = [span for row in (source.rows if rows is None else rows) for span in _of(row.value)]
    return sorted(found, key=lambda span: (span.start_ns, span.end_ns))


def is_binary(source: Source) -> bool:
    """Whether the file begins as OTLP in protobuf does: with field 1, which no JSON begins with."""
    return (
        source.data[:1] == b"\n"
        and source.data[:64].lstrip()[:1] not in (b"{", b"[", b"")
        and (b"\x12" in source.data[:64])
    )


def is_of_model(span: Span) -> bool:
    """Whether its attributes are of a model's work."""
    return any(key.startswith(MARKS) for key in span.attributes)


def _of(value: dict[str, Any]) -> Iterator[Span]:
    value = as_otlp(value)
    if dicts(value.get("resourceSpans")):
        for resource in dicts(value["resourceSpans"]):
            about = attributes_of(mapping(resource.get("resource")).get("attributes"))
            for scope in dicts(resource.get("scopeSpans")) or dicts(
                resource.get("instrumentationLibrarySpans")
            ):
                name = text(mapping(scope.get("scope") or scope.get("instrumentationLibrary")).get("name"))
                for span in dicts(scope.get("spans")):
                    yield wire_span(span, name, about)
    elif isinstance(value.get("attributes"), dict):
        yield plain_span(value)
    elif any(str(key).startswith(("gen_ai.", "llm.")) for key in value):
        yield Span("", "", "", "", 0, 0, value, scope="")


def as_otlp(value: dict[str, Any]) -> dict[str, Any]:
    """OTLP by its JSON's own names: of one with protobuf's, of Tempo's (`batches`, or in `trace`); any other
    object as it is."""
    inner = mapping(value.get("trace"))
    value = inner if not inner.keys().isdisjoint(("resourceSpans", "resource_spans", "batches")) else value
    if any(key in value for key in ("resource_spans", "resource_logs", "resource_metrics")):
        return mapping(camel(value))
    batches = dicts(value.get("batches"))
    is_tempo = bool(batches) and all("resource" in one for one in batches)
    return {"resourceSpans": batches} if is_tempo and "resourceSpans" not in value else value


def camel(value: Any) -> Any:
    """Keys of OTLP as its JSON form spells them; what is null is not there."""
    if isinstance(value, dict):
        return {
            _SNAKE.sub(lambda match: match[1].upper(), key): camel(one)
            for key, one in value.items()
            if one is not None
        }
    return [camel(one) for one in value] if isinstance(value, list) else value


def wire_span(span: dict[str, Any], scope: str, resource: dict[str, Any]) -> Span:
    """A span as OTLP's JSON has it."""
    status = mapping(span.get("status"))
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return Span(
        text(span.get("traceId")),
        text(span.get("spanId")),
        text(span.get("parentSpanId")),
        text(span.get("name")),
        time_of(span.get("startTimeUnixNano")),
        time_of(span.get("endTimeUnixNano")),
        attributes_of(span.get("attributes")),
        [
            Mark(
                text(one.get("name")), time_of(one.get("timeUnixNano")), attributes_of(one.get("attributes"))
            )
            for one in dicts(span.get("events"))
        ],
        [
            Link(text(one.get("traceId")), text(one.get("spanId")), attributes_of(one.get("attributes")))
            for one in dicts(span.get("links"))
        ],
        client=span.get("kind") in (3, "SPAN_KIND_CLIENT"),
        error=(text(status.get("message")) or "error") if failed else "",
        ok=status.get("code") in (1, "STATUS_CODE_OK"),
        scope=scope,
        resource=resource,
    )


def plain_span(span: dict[str, Any]) -> Span:
    """As SDKs print spans, Python's and JavaScript's, and as Phoenix exports them."""
    context = mapping(span.get("spanContext")) or mapping(span.get("context"))
    status = mapping(span.get("status"))
    codes = (status.get("code"), status.get("status_code"), span.get("status_code"))
    said = text(status.get("message")) or text(status.get("description")) or text(span.get("status_message"))
    parent = mapping(span.get("parentSpanContext"))
    return Span(
        *_ids(context),
        text(span.get("parentSpanId")) or _hex(span.get("parent_id")) or text(parent.get("spanId")),
        text(span.get("name")),
        time_of(span.get("startTime", span.get("start_time"))),
        time_of(span.get("endTime", span.get("end_time"))),
        dict(mapping(span.get("attributes"))),
        [
            Mark(text(one.get("name")), time_of(one.get("time", one.get("timestamp"))),
                 dict(mapping(one.get("attributes"))))
            for one in dicts(span.get("events"))
        ],
        [
            Link(*_ids(mapping(one.get("context"))), dict(mapping(one.get("attributes"))))
            for one in dicts(span.get("links"))
        ],
        client=span.get("kind") in (2, "SpanKind.CLIENT", "CLIENT"),
        error=(said or "error") if any(code in (2, "ERROR", "Error") for code in codes) else "",
        ok=any(code in (1, "OK", "Ok") for code in codes),
        scope=text(mapping(span.get("instrumentationScope")).get("name")),
        resource=dict(mapping(mapping(span.get("resource")).get("attributes"))),
    )  # fmt: skip


def _ids(context: dict[str, Any]) -> tuple[str, str]:
    """Trace and span."""
    return (
        text(context.get("traceId")) or _hex(context.get("trace_id")),
        text(context.get("spanId")) or _hex(context.get("span_id")),
    )


def _hex(id: Any) -> str:
    """An id as Python's SDK prints it: with 0x before it."""
    return text(id).removeprefix("0x")


def attributes_of(pairs: Any) -> dict[str, Any]:
    """OTLP's list of keys and tagged values as a dict."""
    return {text(one.get("key")): value_in(one.get("value")) for one in dicts(pairs)}


def value_in(value: Any) -> Any:
    """An attribute's value, of OTLP's tagged ones."""
    held = mapping(value)
    if "arrayValue" in held:
        return [value_in(one) for one in items(mapping(held["arrayValue"]).get("values"))]
    if "kvlistValue" in held:
        return attributes_of(mapping(held["kvlistValue"]).get("values"))
    if "intValue" in held:
        try:
            return int(held["intValue"])
        except (TypeError, ValueError):
            return None
    return next(iter(held.values()), None)


def time_of(value: Any) -> int:
    """Nanoseconds since the epoch of a number in whatever unit, its text, [seconds, nanoseconds] or an ISO
    text; 0 where it is none of them."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(one, int) for one in value):
        return max(0, int(value[0]) * 10**9 + int(value[1]))
    if isinstance(value, str):
        said = said_number(value)
        if said is None:
            return nanoseconds(value.strip().replace(" UTC", "Z"))
        value = said
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e20:
        return 0
    scale = next((factor for least, factor in _SCALES if value >= least), 10**9)
    return int(value * scale)
