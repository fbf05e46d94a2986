"""A finished log, sent to an OpenTelemetry back end."""

from __future__ import annotations

from lctl.errors import RecordingError
from lctl.otel import sdk
from lctl.otel.exporters import exporter_of
from lctl.otel.pipeline import checked
from lctl.spans.folding import Log, spans_of

#: Spans of one request.
_BATCH = 200


def send(
    log: Log, endpoint: str | None = None, *, headers: dict[str, str] | None = None, content: bool = True
) -> int:
    """Send the spans of a log; how many there were. Sent again, they are the same spans.

    Args:
        endpoint: of a receiver of OTLP; None: as OTEL_EXPORTER_OTLP_* say.
        content: False leaves out what was said.

    Raises:
        MissingExtra: OpenTelemetry's SDK or OTLP exporter is not installed.
        UsageError: the endpoint is no address.
        RecordingError: the receiver did not take them.
    """
    from opentelemetry.sdk.trace.export import SpanExportResult

    exporter = exporter_of("trace", checked(endpoint), headers, tells=False)
    about = sdk.resource(str(log.chain.get("name") or "lctl"))
    spans = [sdk.readable(span, about) for span in spans_of(log, content=content)]
    try:
        for start in range(0, len(spans), _BATCH):
            why: Exception | None = None
            try:
                taken = exporter.export(spans[start : start + _BATCH]) is SpanExportResult.SUCCESS
            except Exception as error:  # older exporters raise what the connection raised
                taken, why = False, error
            if not taken:
                where = endpoint or "the receiver of OTEL_EXPORTER_OTLP_ENDPOINT"
                if exporter.answer:
                    raise RecordingError(f"{where}: the spans did not all arrive: {exporter.answer}")
                said = type(why).__name__ if why is not None else exporter.reason
                raise RecordingError(
                    f"{where}: did not take the spans; is a receiver of OTLP there?"
                    + (f" ({said})" if said else "")
                ) from why
    finally:
        exporter.shutdown()
    return len(spans)
