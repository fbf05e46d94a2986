"""Traces of OpenTelemetry: GenAI conventions, OpenInference, OpenLLMetry, Logfire, Langfuse, LangSmith,
MLflow, the AI SDK, lctl's own.

Spans are steps. Each span of a model is a call with the messages it read and gave; a call's prompt is found
again among the messages before it, so that the calls of one conversation are one path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lctl.errors import NotImportable
from lctl.importing import logfire, mlflow, spanlog
from lctl.importing.draft import Draft
from lctl.importing.logrecords import LogRecords
from lctl.importing.source import Row, Source
from lctl.importing.spanforest import SpanForest
from lctl.importing.spans import as_otlp, is_binary, is_of_model, spans
from lctl.importing.values import text
from lctl.spans import conventions as names
from lctl.spans.span import Span


def sees_at_once(source: Source) -> str:
    """As `sees`, by the first line alone: lines of OTLP, which may be a large file."""
    return "OTLP spans (resourceSpans)" if "resourceSpans" in source.first else ""


def sees(source: Source) -> str:
    if is_binary(source):
        return "OTLP spans in protobuf" if spans(source) else ""
    if any("resourceSpans" in as_otlp(row.value) for row in source.rows):
        return "OTLP spans (resourceSpans)"
    return "spans with attributes of model calls" if any(map(is_of_model, spans(source))) else ""


def read(source: Source, draft: Draft) -> None:
    records = LogRecords(draft)
    found = spans(source, _rows(source, draft, records))
    records.tell(found)
    if not found:
        raise NotImportable(f"{source.name}: no spans, as OpenTelemetry exports them")
    fill(logfire.whole([told for span in found for told in _told(span, draft)]), draft, source.name)


def _rows(source: Source, draft: Draft, records: LogRecords) -> Iterator[Row]:
    """The objects of the file. What is no trace and no record of one is counted."""
    for row in source.taken():
        row = row._replace(value=as_otlp(row.value))
        records.take(row.value, row.where)
        if "resourceMetrics" in row.value:
            draft.lose("metrics of OpenTelemetry", row.where)
        yield row


def _told(span: Span, draft: Draft) -> list[Span]:
    """The span in the words that are read here; none for what is no work."""
    from lctl.importing import langfuse, langsmith  # here: they write by what is below

    if langsmith.is_traced(span):
        return [langsmith.of_trace(span)]
    if mlflow.is_traced(span):
        return [mlflow.of_trace(span)]
    return langfuse.of_trace(span, draft) if langfuse.is_traced(span) else [span]


def fill(found: Sequence[Span], draft: Draft, name: str) -> dict[str, str]:
    """Fill the draft from spans; by the id of each that is a model call, the last message it gave.

    Raises:
        NotImportable: none of them is of a model, a tool or an agent.
    """
    forest = SpanForest(found)
    if all(kind == "span" for kind in forest.kinds):
        raise NotImportable(f"{name}: {len(found)} spans, none of a model, a tool or an agent")
    if len(forest.spans) < len(found):
        draft.lose("span there twice, taken once", count=len(found) - len(forest.spans))
    for n in sorted(forest.twice):
        draft.lose(
            "model span inside another of the same call: counted once", f"span {forest.spans[n].span_id}"
        )
    _describe(forest, draft)
    return spanlog.write(forest, draft)


def _describe(forest: SpanForest, draft: Draft) -> None:
    """What the spans say of the program, for the log's header."""
    service = next((text(span.resource.get("service.name")) for span in forest.spans if span.resource), "")
    if service and service.partition(":")[0] not in ("lctl", "unknown_service"):  # as SDKs call one without
        draft.agent = service
        draft.about["service"] = service
    traces = list(dict.fromkeys(span.trace_id for span in forest.spans if span.trace_id))
    if traces:
        draft.about["traces"] = traces[:20]
    for n in forest.roots:
        span = forest.spans[n]
        draft.about["chain"] = span.attributes.get(names.CHAIN)
        for link in span.links:
            about = link.attributes
            draft.about["parent"] = {"id": about.get(names.PARENT_CHAIN), "seq": about.get(names.PARENT_SEQ)}
