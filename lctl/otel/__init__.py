"""OpenTelemetry, live: what is recorded goes to a back end too, and spans of other libraries come in.

    lctl.otel.export_live("http://localhost:4318")       # or LCTL_OTEL=http://localhost:4318
    provider.add_span_processor(lctl.otel.LCTLSpanProcessor())

Needs `pip install 'lctl[otel]'`. A finished log is sent with `lctl export --otlp URL`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lctl.otel.bridge import LCTLSpanProcessor
    from lctl.otel.live import LiveExport, export_live
    from lctl.otel.sending import send

_HOMES = {
    "LCTLSpanProcessor": "lctl.otel.bridge",
    "LiveExport": "lctl.otel.live",
    "export_live": "lctl.otel.live",
    "send": "lctl.otel.sending",
}

__all__ = ["LCTLSpanProcessor", "LiveExport", "export_live", "send"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lctl.otel' has no attribute {name!r}")
    return getattr(import_module(home), name)
