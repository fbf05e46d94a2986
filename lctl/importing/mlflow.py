"""Spans of MLflow as it sends them by OTLP: each holds its input and output, of a model call the request and
the answer, and every value is JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lctl.importing.chunks import answer_of_chunks, is_chunk
from lctl.importing.requests import messages_in
from lctl.importing.usages import counts_of
from lctl.importing.values import dicts, mapping, text
from lctl.spans import conventions as names
from lctl.spans.messages import value_of
from lctl.spans.span import Mark, Span

_TYPE = "mlflow.spanType"
_INPUT = "mlflow.spanInputs"
_OUTPUT = "mlflow.spanOutputs"
_MODEL = "mlflow.llm.model"
_PROVIDER = "mlflow.llm.provider"
_USAGE = "mlflow.chat.tokenUsage"
_TOOLS = "mlflow.chat.tools"
_CHUNK = "mlflow.chunk."
_TOLD = frozenset({_TYPE, _INPUT, _OUTPUT, _MODEL, _PROVIDER, _USAGE, _TOOLS})
#: Type of a span -> a step's kind, as OpenInference names it; others are steps of a chain.
_KINDS = {
    "CHAT_MODEL": "llm", "LLM": "llm", "EMBEDDING": "embedding", "AGENT": "agent", "TOOL": "tool",
    "RETRIEVER": "retriever", "RERANKER": "reranker", "GUARDRAIL": "guardrail", "EVALUATOR": "evaluator",
}  # fmt: skip
#: What a request has that is no parameter.
_ASKED = frozenset({"model", "messages", "input", "system", "instructions", "tools", "stream"})


def is_traced(span: Span) -> bool:
    """Whether MLflow wrote the span, and did not say by the conventions what it is."""
    others = {names.OPERATION, names.SEQ, "openinference.span.kind"}
    return _TYPE in span.attributes and others.isdisjoint(span.attributes)


def of_trace(span: Span) -> Span:
    """Such a span in the words that are read here."""
    said = {key: value_of(span.attributes.get(key)) for key in _TOLD}
    said[_OUTPUT] = _answer(said[_OUTPUT], span)
    kind = _KINDS.get(text(said[_TYPE]), "chain")
    made: dict[str, Any] = {"openinference.span.kind": kind.upper()}
    if kind == "llm":
        made |= _call(said) | _first_chunk(span)
    elif kind == "tool":
        made |= {
            names.TOOL_NAME: span.name,
            names.TOOL_ARGUMENTS: said[_INPUT],
            names.TOOL_RESULT: said[_OUTPUT],
        }
    else:
        made |= {"input.value": said[_INPUT], "output.value": said[_OUTPUT]}
    if kind == "embedding":
        made |= _model(said) | _counts(said)
    if kind == "agent":
        made[names.AGENT_NAME] = span.name
    # It writes what a request says a second time, each parameter under its own name.
    twice = _TOLD | mapping(said[_INPUT]).keys()
    rest = {key: value for key, value in span.attributes.items() if key not in twice}
    return replace(
        span,
        attributes={**rest, **{key: value for key, value in made.items() if value not in (None, "", {}, [])}},
        # The chunks of a stream: the answer has what they say.
        marks=[mark for mark in span.marks if not mark.name.startswith(_CHUNK)],
    )


def _answer(output: Any, span: Span) -> Any:
    """What a call gave. Of a stream MLflow makes an answer without tool calls: its chunks have them, where
    all are there (a span keeps the newest 128); of some it has Python's name of the stream alone."""
    if isinstance(output, str) and output.startswith("<") and " object at 0x" in output:
        return None
    chunks = [value_of(mark.attributes.get("mlflow.chunk.value")) for mark in _chunks(span)]
    are_whole = bool(chunks) and _chunks(span)[0].name == f"{_CHUNK}item.0"
    if not are_whole or not all(is_chunk(mapping(one)) for one in chunks):
        return output
    return {**mapping(output), "choices": answer_of_chunks(chunks)["choices"]}


def _first_chunk(span: Span) -> dict[str, float]:
    marks = _chunks(span)
    if not marks or marks[0].name != f"{_CHUNK}item.0" or not 0 < span.start_ns <= marks[0].at_ns:
        return {}
    return {names.FIRST_CHUNK: (marks[0].at_ns - span.start_ns) / 1e9}


def _chunks(span: Span) -> list[Mark]:
    return [mark for mark in span.marks if mark.name.startswith(_CHUNK)]


def _call(said: dict[str, Any]) -> dict[str, Any]:
    asked, got = mapping(said[_INPUT]), mapping(said[_OUTPUT])
    read, gave = messages_in(said[_INPUT], "user"), messages_in(said[_OUTPUT], "assistant")
    reasons = [choice.get("finish_reason") for choice in dicts(got.get("choices"))]
    return {
        **_model(said),
        **_counts(said),
        names.MESSAGES: (read or [], gave or []),
        names.RESPONSE_ID: text(got.get("id")),
        names.FINISH_REASONS: [
            one for one in reasons or [got.get("stop_reason") or got.get("status")] if one
        ],
        names.REQUEST_STREAM: asked.get("stream"),
        names.TOOL_DEFINITIONS: dicts(asked.get("tools")) or said[_TOOLS],
        "llm.invocation_parameters": {key: value for key, value in asked.items() if key not in _ASKED},
    }


def _model(said: dict[str, Any]) -> dict[str, Any]:
    asked = text(said[_MODEL]) or text(mapping(said[_INPUT]).get("model"))
    return {
        names.REQUEST_MODEL: asked,
        names.RESPONSE_MODEL: text(mapping(said[_OUTPUT]).get("model")) or asked,
        names.PROVIDER: text(said[_PROVIDER]),
    }


def _counts(said: dict[str, Any]) -> dict[str, int]:
    """As the provider counted them; else what MLflow made of it, which leaves out thoughts."""
    return counts_of(mapping(mapping(said[_OUTPUT]).get("usage"))) or counts_of(mapping(said[_USAGE]))
