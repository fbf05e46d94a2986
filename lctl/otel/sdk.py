"""Our spans as the objects of OpenTelemetry's SDK, and its providers as we use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lctl._version import __version__
from lctl.errors import MissingExtra
from lctl.spans import conventions as names
from lctl.spans.measures import measures
from lctl.spans.span import Span

try:
    from opentelemetry._logs import LogRecord, SeverityNumber
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import (
        Link,
        NonRecordingSpan,
        SpanContext,
        SpanKind,
        Status,
        StatusCode,
        TraceFlags,
        set_span_in_context,
    )
except ImportError:
    raise MissingExtra("lctl.otel", "otel") from None

if TYPE_CHECKING:
    from opentelemetry._logs import Logger
    from opentelemetry.metrics import Meter

SCOPE = InstrumentationScope(names.SCOPE, __version__, names.SCHEMA_URL)
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


def resource(service: str, given: dict[str, Any] | None = None) -> Resource:
    """What the environment says of the program (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`); where it
    names no service, `service`."""
    made = Resource.create(given)
    if str(made.attributes.get("service.name", "")).startswith("unknown_service"):
        made = made.merge(Resource({"service.name": service}))
    return made


def readable(span: Span, about: Resource) -> ReadableSpan:
    """A finished span, as exporters take it."""
    parent = _context(span.trace_id, span.parent_id) if span.parent_id else None
    code = StatusCode.ERROR if span.error else StatusCode.OK if span.ok else StatusCode.UNSET
    return ReadableSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id),
        parent=parent,
        resource=about,
        attributes=span.attributes,
        events=[Event(mark.name, mark.attributes, mark.at_ns) for mark in span.marks],
        links=[Link(_context(one.trace_id, one.span_id), one.attributes) for one in span.links],
        kind=SpanKind.CLIENT if span.client else SpanKind.INTERNAL,
        status=Status(code, span.error or None),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=SCOPE,
    )


def records(span: Span, content: dict[str, Any]) -> list[LogRecord]:
    """The events of a model call: its details, and each exception.

    Args:
        content: attributes that say what was said, for the details.
    """
    if not span.client:
        return []
    place = set_span_in_context(NonRecordingSpan(_context(span.trace_id, span.span_id)))
    found = [
        LogRecord(
            timestamp=mark.at_ns,
            severity_number=SeverityNumber.WARN,
            event_name=names.EXCEPTION_EVENT,
            attributes={key: value for key, value in mark.attributes.items() if key.startswith("exception.")},
            context=place,
        )
        for mark in span.marks
        if mark.name == names.EXCEPTION
    ]
    said = {key: value for key, value in span.attributes.items() if key not in names.CONTENT}
    found.append(
        LogRecord(
            timestamp=span.end_ns,
            severity_number=SeverityNumber.DEBUG,
            event_name=names.DETAILS_EVENT,
            attributes={**said, **content},
            context=place,
        )
    )
    return found


class Instruments:
    """The metrics of the conventions; each instrument is made when it is first needed."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._made: dict[str, Any] = {}

    def record(self, span: Span) -> None:
        for name, value, attributes in measures(span):
            instrument = self._made.get(name) or self._make(name)
            (instrument.add if names.INSTRUMENTS[name][0] == "counter" else instrument.record)(
                value, attributes
            )

    def _make(self, name: str) -> Any:
        kind, unit, about, bounds = names.INSTRUMENTS[name]
        if kind == "counter":
            made: Any = self._meter.create_counter(name, unit, about)
        else:
            made = self._meter.create_histogram(
                name, unit, about, explicit_bucket_boundaries_advisory=list(bounds)
            )
        self._made[name] = made
        return made


def emit(logger: Logger, span: Span, content: dict[str, Any]) -> None:
    """The events of a model call, to a logger."""
    for record in records(span, content):
        logger.emit(record)


def _context(trace: str, span: str) -> SpanContext:
    return SpanContext(int(trace, 16), int(span, 16), is_remote=False, trace_flags=_SAMPLED)
