"""Spans as OTLP has them: the JSON form, and by way of it the binary one.

In JSON, ids are hex, 64-bit numbers are texts and enumerations are numbers, as the protocol says for
OTLP/JSON; protobuf's own JSON has ids in base64.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from lctl._version import __version__
from lctl.codec.lines import encode_value
from lctl.errors import MissingExtra
from lctl.spans import conventions as names
from lctl.spans.span import Link, Mark, Span

Json = dict[str, Any]
Signal = Literal["trace", "logs"]

_INTERNAL, _CLIENT = 1, 3
_OK, _ERROR = 1, 2
_IDS = ("traceId", "spanId", "parentSpanId")


def document(spans: Iterable[Span], resource: Json | None = None) -> Json:
    """An export request: `{"resourceSpans": [...]}`."""
    about = {"service.name": "lctl", "telemetry.sdk.language": "python", **(resource or {})}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(about)},
                "scopeSpans": [
                    {
                        "scope": {"name": names.SCOPE, "version": __version__},
                        "spans": [_span(one) for one in spans],
                        "schemaUrl": names.SCHEMA_URL,
                    }
                ],
            }
        ]
    }


def pieces(spans: Sequence[Span], resource: Json | None = None) -> Iterator[bytes]:
    """`document` as the bytes of a file, span by span: prompts are long, and each call's span has its own."""
    place = b'"spans":[]'
    before, _, after = encode_value(document((), resource)).partition(place)
    yield before + place[:-1]
    for n, one in enumerate(spans):
        yield (b"," if n else b"") + encode_value(_span(one))
    yield place[-1:] + after + b"\n"


def _time(ns: int) -> str:
    """In the 64 bits it has in protobuf: a duration in a log may be any number."""
    return str(min(max(ns, 0), 2**64 - 1))


def binary(request: Json) -> bytes:
    """An export request in protobuf.

    Raises:
        MissingExtra: `opentelemetry-proto` is not installed.
    """
    message = _request()
    from google.protobuf.json_format import ParseDict

    ParseDict(_with_ids(request, lambda text: base64.b64encode(bytes.fromhex(text)).decode()), message)
    data: bytes = message.SerializeToString()
    return data


def from_binary(data: bytes, signal: Signal = "trace") -> Json:
    """The export request of traces, or of logs, that protobuf bytes are, in the JSON form.

    Raises:
        MissingExtra: `opentelemetry-proto` is not installed.
        ValueError: they are none.
    """
    message = _request(signal)
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message import DecodeError

    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise ValueError(f"no OTLP export request ({error})") from None
    found: Json = MessageToDict(message, use_integers_for_enums=True)
    made: Json = _with_ids(found, lambda text: base64.b64decode(text).hex())
    return made


def _request(signal: Signal = "trace") -> Any:
    try:
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    except ImportError:
        raise MissingExtra("OTLP in protobuf", "otel") from None
    return ExportTraceServiceRequest() if signal == "trace" else ExportLogsServiceRequest()


def _with_ids(value: Any, change: Any) -> Any:
    """The same with every id changed."""
    if isinstance(value, dict):
        return {
            key: change(one) if key in _IDS and isinstance(one, str) else _with_ids(one, change)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_with_ids(one, change) for one in value]
    return value


def _span(span: Span) -> Json:
    made: Json = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": _CLIENT if span.client else _INTERNAL,
        "startTimeUnixNano": _time(span.start_ns),
        "endTimeUnixNano": _time(span.end_ns),
        "attributes": _attributes(span.attributes),
        "status": _status(span),
    }
    if span.parent_id:
        made["parentSpanId"] = span.parent_id
    if span.marks:
        made["events"] = [_mark(one) for one in span.marks]
    if span.links:
        made["links"] = [_link(one) for one in span.links]
    return made


def _status(span: Span) -> Json:
    if span.error:
        return {"code": _ERROR, "message": span.error}
    return {"code": _OK} if span.ok else {}


def _mark(mark: Mark) -> Json:
    return {"name": mark.name, "timeUnixNano": _time(mark.at_ns), "attributes": _attributes(mark.attributes)}


def _link(link: Link) -> Json:
    return {"traceId": link.trace_id, "spanId": link.span_id, "attributes": _attributes(link.attributes)}


def _attributes(found: Json) -> list[Json]:
    return [{"key": key, "value": _value(value)} for key, value in found.items()]


def _value(value: Any) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)} if -(2**63) <= value < 2**63 else {"doubleValue": float(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _attributes(value)}}
    return {"stringValue": str(value)}
