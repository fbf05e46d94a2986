"""Where spans go: exporters of OTLP behind the SDK's batch processors, each with a thread of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from lctl.errors import UsageError
from lctl.otel import sdk
from lctl.otel.exporters import exporter_of
from lctl.otel.quiet import Quiet
from lctl.spans import conventions as names
from lctl.spans.span import Span

if TYPE_CHECKING:
    from opentelemetry.sdk._logs.export import LogRecordExporter
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.trace.export import SpanExporter

Content = Literal["span", "event", "both", "none"]
#: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT -> where what was said goes.
_CAPTURE: dict[str, Content] = {
    "span_only": "span", "event_only": "event", "span_and_event": "both", "no_content": "none",
    "true": "span", "false": "none",
}  # fmt: skip
#: Spans that wait for sending; what is beyond them is dropped, as the SDK does.
_QUEUE = 1 << 15
#: The module of the SDK that drops them, and logs it.
_OF_QUEUES = "opentelemetry.sdk._shared_internal"


class Pipeline:
    """Takes spans; sends them, the metrics and the events they give.

    Args:
        endpoint: of a receiver of OTLP, without a path; None: as OTEL_EXPORTER_OTLP_* say.
        span_exporter, metric_reader, log_exporter: instead of those of OTLP.
        metrics, events: whether to send those; a back end may take spans only.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        headers: dict[str, str] | None = None,
        span_exporter: SpanExporter | None = None,
        metric_reader: MetricReader | None = None,
        log_exporter: LogRecordExporter | None = None,
        metrics: bool = True,
        events: bool = True,
        content: Content = "span",
        service: str = "lctl",
        resource: dict[str, Any] | None = None,
    ) -> None:
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        self.content: Content = content
        self._resource = sdk.resource(service, resource)
        base = checked(endpoint)
        exporter: Any = span_exporter or exporter_of("trace", base, headers)
        self._spans = BatchSpanProcessor(exporter, max_queue_size=_QUEUE)
        self._voice = exporter if isinstance(exporter, Quiet) else Quiet(exporter)
        self._ends: list[Any] = [self._spans]
        self._instruments: sdk.Instruments | None = None
        self._logger: Any = None
        given = span_exporter is not None
        if metrics and (metric_reader is not None or (not given and _is_on("METRICS"))):
            self._measure(metric_reader, base, headers)
        if events and (log_exporter is not None or (not given and _is_on("LOGS"))):
            self._log(log_exporter or exporter_of("log", base, headers))

    def take(self, span: Span) -> None:
        """Queue a span for sending; never waits. Where the queue is full, that is said."""
        with self._voice.at_work(_OF_QUEUES):
            self._take(span)

    def _take(self, span: Span) -> None:
        content = {key: value for key, value in span.attributes.items() if key in names.CONTENT}
        if self._instruments is not None:
            self._instruments.record(span)
        if self._logger is not None:
            sdk.emit(self._logger, span, content if self.content in ("event", "both") else {})
        if self.content not in ("span", "both"):
            span.attributes = {key: value for key, value in span.attributes.items() if key not in content}
        self._spans.on_end(sdk.readable(span, self._resource))

    def flush(self, timeout: float) -> None:
        """Send what is queued, within so many seconds for each signal."""
        for end in self._ends:
            end.force_flush(round(timeout * 1000))

    def close(self) -> None:
        for end in self._ends:
            end.shutdown()

    def _measure(self, reader: MetricReader | None, base: str | None, headers: dict[str, str] | None) -> None:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

        if reader is None:
            reader = PeriodicExportingMetricReader(exporter_of("metric", base, headers))
        provider = MeterProvider([reader], self._resource, shutdown_on_exit=False)
        self._instruments = sdk.Instruments(provider.get_meter(names.SCOPE))
        self._ends.append(provider)

    def _log(self, exporter: LogRecordExporter) -> None:
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

        provider = LoggerProvider(self._resource, shutdown_on_exit=False)
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
        self._logger = provider.get_logger(names.SCOPE)
        self._ends.append(provider)


def content_of_environment() -> Content:
    """What the conventions' own variable says; on spans where it says nothing."""
    said = os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").strip().lower()
    return _CAPTURE.get(said, "span")


def _is_on(signal: str) -> bool:
    return os.environ.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() != "none"


def checked(endpoint: str | None) -> str | None:
    """The address of a receiver, without a path of traces.

    Raises:
        UsageError: it is none.
    """
    if endpoint is None:
        return None
    if not endpoint.startswith(("http://", "https://")):
        raise UsageError(f"{endpoint}: no address of an OTLP receiver; it is like http://localhost:4318")
    return endpoint.rstrip("/").removesuffix("/v1/traces")
