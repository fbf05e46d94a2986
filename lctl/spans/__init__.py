"""A log as spans of OpenTelemetry: their names, their values, their files. No library of OpenTelemetry's
is needed for any of it but the binary form of OTLP.

    from lctl.spans import spans_of
    from lctl.spans.otlp import document
    document(spans_of(log))        # what `lctl export --format otlp` writes
"""

from lctl.spans.folding import Folding, spans_of
from lctl.spans.span import Link, Mark, Span

__all__ = ["Folding", "Link", "Mark", "Span", "spans_of"]
