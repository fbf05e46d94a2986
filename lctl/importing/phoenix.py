"""Spans as Arize Phoenix exports them: pages of its API, in its own form or OTLP's; data frames as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.errors import NotImportable
from lctl.importing import otlp
from lctl.importing.draft import Draft
from lctl.importing.pages import listed
from lctl.importing.source import Source
from lctl.importing.spans import camel, plain_span, wire_span
from lctl.importing.values import mapping, text
from lctl.spans.messages import value_of
from lctl.spans.span import Span


def sees(source: Source) -> str:
    found = _rows(source)
    if not found:
        return ""
    first = found[0]
    if "context" in first and "span_kind" in first:
        return "spans with context and span_kind"
    if "span_id" in first and "start_time_unix_nano" in first:
        return "a page of OTLP spans"
    return "a data frame of spans" if "context.span_id" in first else ""


def read(source: Source, draft: Draft) -> None:
    rows = _rows(source)
    if not rows:
        raise NotImportable(f"{source.name}: no spans, as Phoenix exports them")
    if source.rows and source.rows[-1].value.get("next_cursor"):
        draft.lose("further pages: the export was asked for in pages, and this is one")
    for row in rows:
        for key in ("annotations", "evaluations", "notes"):
            if row.get(key):
                draft.lose(f"{key} of a span", text(row.get("name")))
    found = sorted(map(_span, rows), key=lambda span: (span.start_ns, span.end_ns))
    otlp.fill(found, draft, source.name)


def _rows(source: Source) -> list[dict[str, Any]]:
    return [row for one in listed(source, "data") for row in _of_columns(one)]


def _of_columns(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a data frame that was written column by column, as pandas does unless told otherwise; any
    other row alone."""
    ids = row.get("context.span_id")
    if not isinstance(ids, dict):
        return [row]
    return [{key: mapping(column).get(n) for key, column in row.items()} for n in ids]


def _span(row: dict[str, Any]) -> Span:
    if "start_time_unix_nano" in row:
        return wire_span(camel(row), "", {})
    if "context.span_id" in row:
        row = _of_frame(row)
    span = plain_span(row)
    span.attributes = dict(_flat(span.attributes))
    kind = text(row.get("span_kind"))
    if kind and kind.upper() != "UNKNOWN":
        span.attributes.setdefault("openinference.span.kind", kind.upper())
    return span


def _of_frame(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a data frame, whose columns are dotted, as a span."""
    return {
        **{key: row.get(key) for key in ("name", "parent_id", "start_time", "end_time", "span_kind")},
        **{key: row.get(key) for key in ("status_code", "status_message")},
        "events": value_of(row.get("events")),
        "context": {"trace_id": row.get("context.trace_id"), "span_id": row.get("context.span_id")},
        "attributes": {
            key.removeprefix("attributes."): value
            for key, value in row.items()
            if key.startswith("attributes.") and value is not None
        },
    }


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Attributes that were put into one another, by their whole names again; what is an object stays one."""
    if isinstance(value, dict) and not name.endswith(
        ("metadata", "invocation_parameters", "tool.parameters")
    ):
        for key, one in value.items():
            yield from _flat(one, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        for n, one in enumerate(value):
            yield from _flat(one, f"{name}.{n}")
    else:
        yield name, value
