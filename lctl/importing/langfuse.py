"""Exports of Langfuse: traces and their observations, lists of observations as its API gives them or as they
lie in a bucket; and the spans that its SDK writes.

Each observation is a step, a generation is a model call, a tool's run a tool call. A call's input is found
again among the messages before it, so that calls of one conversation are one path.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lctl.errors import NotImportable
from lctl.importing import otlp
from lctl.importing.draft import Draft
from lctl.importing.requests import messages_in
from lctl.importing.source import Source
from lctl.importing.spans import time_of
from lctl.importing.usages import counts_of
from lctl.importing.values import dicts, mapping, text, without
from lctl.spans import conventions as names
from lctl.spans.messages import value_of
from lctl.spans.span import Span

#: Type of an observation -> a step's kind, as OpenInference names it.
_KINDS = {
    "GENERATION": "llm", "EMBEDDING": "embedding", "AGENT": "agent", "TOOL": "tool", "CHAIN": "chain",
    "RETRIEVER": "retriever", "EVALUATOR": "evaluator", "GUARDRAIL": "guardrail", "SPAN": "chain",
}  # fmt: skip
#: Attributes of its SDK's spans.
_OBSERVATION = "langfuse.observation."
_TYPE = f"{_OBSERVATION}type"
#: Name in its API -> the attribute after `langfuse.observation.`.
_ATTRIBUTES = {
    "input": "input", "output": "output", "model": "model.name", "modelParameters": "model.parameters",
    "usageDetails": "usage_details", "costDetails": "cost_details", "level": "level", "version": "version",
    "statusMessage": "status_message", "completionStartTime": "completion_start_time",
    "promptName": "prompt.name", "promptVersion": "prompt.version",
}  # fmt: skip
_FINISH_REASON = f"{_OBSERVATION}metadata.finish_reason"
#: What a trace says that is told elsewhere in the log, or as much as the log itself.
_NOT_ABOUT = ("input", "output", "observations", "metadata", "scores", "data", "meta")
_SNAKE = re.compile(r"_([a-z])")


def sees(source: Source) -> str:
    _, found = _parts(source)
    return "a trace with observations" if found and "type" in found[0] and "traceId" in found[0] else ""


def read(source: Source, draft: Draft) -> None:
    traces, observations = _parts(source)
    if not observations:
        raise NotImportable(
            f"{source.name}: no observations, as an export of Langfuse has; a list of traces names them only"
        )
    if len(traces) == 1:
        draft.agent = text(traces[0].get("name")) or "langfuse"
        draft.about["trace"] = without(traces[0], *_NOT_ABOUT)
    else:
        draft.agent = "langfuse"
        draft.about["traces"] = [without(trace, *_NOT_ABOUT) for trace in traces[:20]] or None
    spans = []
    for one in observations:
        if one.get("type") == "EVENT":
            draft.lose("event observation: a moment, no work", text(one.get("name")))
        else:
            spans.append(_span(one, draft))
    spans.sort(key=lambda span: (span.start_ns, span.end_ns))
    gave = otlp.fill(spans, draft, source.name)
    _scores(traces, gave, {span.span_id: span.trace_id for span in spans}, draft)
    pages = _pages(source)
    if pages and _goes_on(mapping(pages[-1].get("meta"))):
        draft.lose("pages after the last one in the file", "meta")


def is_traced(span: Span) -> bool:
    """Whether its SDK wrote the span, and nothing in it says by other conventions what it is."""
    others = {names.OPERATION, names.SEQ, "openinference.span.kind"}
    return isinstance(span.attributes.get(_TYPE), str) and others.isdisjoint(span.attributes)


def of_trace(span: Span, draft: Draft) -> list[Span]:
    """Such a span, with what its observation says in the words that are read here; none for an event."""
    said = span.attributes
    if said[_TYPE] == "event":
        draft.lose("event observation: a moment, no work", span.name)
        return []
    one: dict[str, Any] = {"type": said[_TYPE].upper(), "name": span.name, "id": span.span_id}
    one["startTime"] = span.start_ns
    for key, name in _ATTRIBUTES.items():
        value = said.get(_OBSERVATION + name)
        one[key] = value_of(value) if key in ("usageDetails", "costDetails", "completionStartTime") else value
    made = _span(one, draft)
    told = {_OBSERVATION + name for name in _ATTRIBUTES.values()} | {_TYPE}
    rest = {key: value for key, value in said.items() if key not in told}
    reason = text(value_of(said.get(_FINISH_REASON)))
    if reason:
        rest[names.FINISH_REASONS] = [reason]
    return [replace(span, attributes={**rest, **made.attributes}, error=span.error or made.error)]


def _parts(source: Source) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(traces, observations): a trace each, pages of either, or a row for each."""
    rows = [one for page in _pages(source) for one in dicts(page.get("data"))]
    traces: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    for row in rows or [row.value for row in source.rows]:
        trace = mapping(row.get("trace")) or row
        inner = dicts(row.get("observations")) or dicts(trace.get("observations"))
        if inner:
            traces.append(trace)
            found += inner
        elif rows or {"traceId", "startTime"} <= row.keys():
            found.append(row)
        elif {"trace_id", "start_time", "parent_observation_id"} <= row.keys():
            found.append(_camel(row))
    return traces, found


def _pages(source: Source) -> list[dict[str, Any]]:
    """Pages of its API: one, or several in a list or a line each."""
    whole = mapping(source.document)
    return [whole] if whole.get("data") else [row.value for row in source.rows if "data" in row.value]


def _goes_on(meta: dict[str, Any]) -> bool:
    """Whether there are pages after this one, as either version of its API says."""
    page, pages = meta.get("page"), meta.get("totalPages")
    return bool(meta.get("cursor")) or (isinstance(page, int) and isinstance(pages, int) and page < pages)


def _camel(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a bucket or of its database, by the names of its API."""
    return {_SNAKE.sub(lambda match: match[1].upper(), key): value for key, value in row.items()}


def _span(one: dict[str, Any], draft: Draft) -> Span:
    kind = _KINDS.get(text(one.get("type")), "chain")
    failed = one.get("level") == "ERROR"
    said: dict[str, Any] = {"openinference.span.kind": kind.upper(), **_details(one)}
    if kind == "llm":
        said |= _call(one, draft)
    elif kind == "tool":
        given = value_of(one.get("input"))
        said[names.TOOL_NAME] = text(one.get("name"))
        said[names.TOOL_ARGUMENTS] = mapping(given).get("input", given)
        said[names.TOOL_RESULT] = _output(one.get("output"))
    else:
        said |= {"input.value": value_of(one.get("input")), "output.value": value_of(one.get("output"))}
        if kind == "embedding":
            said |= {names.RESPONSE_MODEL: _model(one), **counts_of(_usage(one))}
        if kind == "agent":
            said[names.AGENT_NAME] = text(one.get("name"))
    return Span(
        text(one.get("traceId")),
        text(one.get("id")),
        text(one.get("parentObservationId")),
        text(one.get("name")),
        time_of(one.get("startTime")),
        time_of(one.get("endTime")) or time_of(one.get("startTime")),
        {key: value for key, value in said.items() if value not in (None, "")},
        error=(text(one.get("statusMessage")) or "error") if failed else "",
        scope="langfuse",
    )


def _details(one: dict[str, Any]) -> dict[str, Any]:
    """What else it says, kept beside the step."""
    kept = ("metadata", "level", "version", "environment", "promptName", "promptVersion", "costDetails")
    return {f"langfuse.{key}": one[key] for key in kept if one.get(key) not in (None, "", {}, [])}


def _call(one: dict[str, Any], draft: Draft) -> dict[str, Any]:
    where = f"observation {one.get('id')}"
    asked, tools = _asked(value_of(one.get("input")))
    prompt, answers = messages_in(asked, "user"), messages_in(one.get("output"), "assistant")
    if answers is None:
        draft.lose("generation whose output is no message", where)
    if prompt is None:
        draft.lose("generation whose input is no messages", where)
    said: dict[str, Any] = {
        names.RESPONSE_MODEL: _model(one),
        names.MESSAGES: (prompt or [], answers or []),
    }
    said |= counts_of(_usage(one))
    for n, tool in enumerate(tools):
        said[f"llm.tools.{n}.tool.json_schema"] = tool
    params = {
        key: value
        for key, value in mapping(value_of(one.get("modelParameters"))).items()
        if value not in (None, "Infinity")  # what was not said, as its SDK writes it
    }
    if params:
        said["llm.invocation_parameters"] = params
    start, first = time_of(one.get("startTime")), time_of(one.get("completionStartTime"))
    if start and first >= start:
        said[names.FIRST_CHUNK] = (first - start) / 1e9
    return said


def _asked(given: Any) -> tuple[Any, list[dict[str, Any]]]:
    """What a model was asked, and the tools it was given: beside the messages, or, from LangChain's callback,
    among them."""
    if not isinstance(given, list):
        return given, dicts(mapping(given).get("tools"))
    tools = [mapping(mapping(one).get("content")) for one in given if mapping(one).get("role") == "tool"]
    tools = [tool for tool in tools if isinstance(tool.get("function"), dict)]
    return [one for one in given if mapping(one).get("content") not in tools], tools


def _model(one: dict[str, Any]) -> str:
    """As the first version of the API has it, or the second."""
    return text(one.get("model")) or text(one.get("providedModelName"))


def _usage(one: dict[str, Any]) -> dict[str, Any]:
    return mapping(one.get("usageDetails")) or mapping(one.get("usage"))


def _scores(traces: list[dict[str, Any]], gave: dict[str, str], within: dict[str, str], draft: Draft) -> None:
    """What was scored: the answer of an observation, or the last one of a trace.

    Args:
        gave: observation -> the message it gave; `within`: observation -> its trace.
    """
    last = draft.said[-1].id if draft.said else None
    of_trace = {within.get(id, ""): message for id, message in gave.items()}
    for trace in traces:
        for score in dicts(trace.get("scores")):
            value = score.get("value")
            words = f"{text(score.get('name'))}: {value if value is not None else score.get('stringValue')}"
            if score.get("comment"):
                words += f" ({score['comment']})"
            about = gave.get(text(score.get("observationId"))) or of_trace.get(text(trace.get("id"))) or last
            id, at = f"score:{score.get('id')}", score.get("timestamp")
            draft.fact(id, words, about, value=value, source="langfuse", at=at)


def _output(value: Any) -> Any:
    """What the model read of a tool's output: its parts, else the value."""
    value = value_of(value)
    parts = mapping(value).get("content")
    return parts if isinstance(parts, list) else value
