"""Exporters of OTLP, by the protocol that OTEL_EXPORTER_OTLP_PROTOCOL names."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Literal, NamedTuple

from lctl.errors import LctlError, MissingExtra
from lctl.otel.answers import Answers
from lctl.otel.quiet import Quiet

Signal = Literal["trace", "metric", "log"]


class _Protocol(NamedTuple):
    """Where a package has its exporters.

    Attributes:
        by_path: an endpoint has a path for each signal.
    """

    module: str
    package: str
    by_path: bool = True


_PROTOCOLS = {
    "http/protobuf": _Protocol("opentelemetry.exporter.otlp.proto.http", "lctl[otel]"),
    "http/json": _Protocol("opentelemetry.exporter.otlp.json.http", "opentelemetry-exporter-otlp-json-http"),
    "grpc": _Protocol(
        "opentelemetry.exporter.otlp.proto.grpc", "opentelemetry-exporter-otlp-proto-grpc", by_path=False
    ),
}
#: Signal -> module, class, path, and what it is called in the names of variables.
_SIGNALS: dict[Signal, tuple[str, str, str, str]] = {
    "trace": ("trace_exporter", "OTLPSpanExporter", "traces", "TRACES"),
    "metric": ("metric_exporter", "OTLPMetricExporter", "metrics", "METRICS"),
    "log": ("_log_exporter", "OTLPLogExporter", "logs", "LOGS"),
}


def exporter_of(
    signal: Signal, base: str | None, headers: dict[str, str] | None, *, tells: bool = True
) -> Any:
    """An exporter of OTLP: a `Quiet` one.

    Args:
        base: of a receiver, without a path; None: as OTEL_EXPORTER_OTLP_* say.
        tells: it says on stderr what fails; else its `reason` holds that.

    Raises:
        MissingExtra, LctlError: it is not installed, or there is no such protocol.
    """
    module, name, path, variable = _SIGNALS[signal]
    wanted, protocol = _wanted(variable)
    try:
        make = getattr(import_module(f"{protocol.module}.{module}"), name)
    except ImportError:
        if wanted == "http/protobuf":
            raise MissingExtra("sending OTLP", "otel") from None
        raise LctlError(f"OTLP by {wanted} needs: pip install {protocol.package}") from None
    endpoint = base if base is None or not protocol.by_path else f"{base}/v1/{path}"
    answers = Answers(make)
    return Quiet(make(endpoint=endpoint, headers=headers, **answers.options), answers, tells=tells)


def _wanted(signal: str) -> tuple[str, _Protocol]:
    for variable in (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        said = os.environ.get(variable, "").strip().lower()
        if said and said not in _PROTOCOLS:
            raise LctlError(f"{variable}={said}: no protocol of OTLP; there are {', '.join(_PROTOCOLS)}")
        if said:
            return said, _PROTOCOLS[said]
    return "http/protobuf", _PROTOCOLS["http/protobuf"]
