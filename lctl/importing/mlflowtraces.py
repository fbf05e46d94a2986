"""Traces that MLflow exports as JSON, one or many: `{info, data: {spans}}` (`Trace.to_json()`), or the data
alone (`traces.json` of its artifacts). The spans are those it sends by OTLP, written in a way of its own."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from lctl.errors import NotImportable
from lctl.importing import mlflow, otlp
from lctl.importing.draft import Draft
from lctl.importing.source import Row, Source
from lctl.importing.spans import plain_span
from lctl.importing.values import dicts, mapping, text
from lctl.spans.span import Span


def sees(source: Source) -> str:
    return "traces with spans of MLflow" if any(map(_is_traced, source.rows[:3])) else ""


def read(source: Source, draft: Draft) -> None:
    found = [_span(span) for row in source.rows for span in _spans(row)]
    if not found:
        raise NotImportable(f"{source.name}: no traces with spans, as MLflow exports them")
    for row in source.rows:
        assessed = dicts(mapping(row.value.get("info")).get("assessments"))
        if assessed:
            draft.lose("assessment of a trace", row.where, len(assessed))
    found = [mlflow.of_trace(span) if mlflow.is_traced(span) else span for span in found]
    otlp.fill(sorted(found, key=lambda span: (span.start_ns, span.end_ns)), draft, source.name)


def _is_traced(row: Row) -> bool:
    return any("mlflow.spanType" in mapping(span.get("attributes")) for span in _spans(row))


def _spans(row: Row) -> list[dict[str, Any]]:
    return dicts(mapping(row.value.get("data")).get("spans")) or dicts(row.value.get("spans"))


def _span(span: dict[str, Any]) -> Span:
    """A span of either version: the older prints it as OpenTelemetry's SDK does."""
    if "context" in span:
        return plain_span(span)
    status = mapping(span.get("status"))
    return plain_span(
        {
            "context": {key: _hex(span.get(key)) for key in ("trace_id", "span_id")},
            "parent_id": _hex(span.get("parent_span_id")),
            "name": span.get("name"),
            "start_time": span.get("start_time_unix_nano"),
            "end_time": span.get("end_time_unix_nano"),
            "status": {**status, "code": text(status.get("code")).removeprefix("STATUS_CODE_")},
            "attributes": span.get("attributes"),
            "events": [{**one, "time": one.get("time_unix_nano")} for one in dicts(span.get("events"))],
        }
    )


def _hex(id: Any) -> str:
    """An id in hexadecimal; MLflow writes base64."""
    try:
        return base64.b64decode(text(id), validate=True).hex()
    except (binascii.Error, ValueError):
        return text(id)
