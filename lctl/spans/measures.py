"""What a span adds to the metrics of the conventions: (instrument, value, attributes)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lctl.spans import conventions as names
from lctl.spans.span import Span

Measure = tuple[str, float, dict[str, Any]]

_CALL = (names.OPERATION, names.PROVIDER, names.REQUEST_MODEL, names.RESPONSE_MODEL, names.SERVER_ADDRESS,
         names.SERVER_PORT)  # fmt: skip
_USAGE = {
    "input_tokens": names.INPUT_TOKENS,
    "output_tokens": names.OUTPUT_TOKENS,
    "cache_read.input_tokens": names.CACHE_READ,
    "cache_write.input_tokens": names.CACHE_WRITE,
    "reasoning.output_tokens": names.REASONING,
}
_WORK = {
    "invoke_agent": ("gen_ai.invoke_agent.duration", (names.AGENT_NAME,)),
    "execute_tool": ("gen_ai.execute_tool.duration", (names.TOOL_NAME, names.TOOL_TYPE)),
    "invoke_workflow": ("gen_ai.invoke_workflow.duration", (names.WORKFLOW_NAME,)),
}


def measures(span: Span) -> Iterator[Measure]:
    """The measures of one span. What a rerun or fork took from the tape was measured in the recording."""
    said = span.attributes
    if names.INHERITED in said or names.OPEN in said or said.get(names.DERIVED):
        return
    took = (span.end_ns - span.start_ns) / 1e9
    operation = said.get(names.OPERATION)
    if span.client:
        yield from _of_call(span, took)
    elif operation in _WORK:
        instrument, keys = _WORK[operation]
        yield instrument, took, _picked(said, (*keys, names.ERROR_TYPE))


def _of_call(span: Span, took: float) -> Iterator[Measure]:
    said = span.attributes
    about = _picked(said, _CALL)
    timed = _picked(said, (*_CALL, names.ERROR_TYPE))
    is_inference = said.get(names.OPERATION) != "embeddings"
    yield "gen_ai.client.operation.duration", took, timed
    if is_inference:
        yield "gen_ai.client.inference.duration", took, timed
        first = said.get(names.FIRST_CHUNK)
        if isinstance(first, int | float):
            yield "gen_ai.client.inference.time_to_first_chunk", first, about
    for name, attribute in _USAGE.items():
        count = said.get(attribute)
        both = name in ("input_tokens", "output_tokens")
        if is_inference:  # every call is counted: one that failed, or did not say, with 0
            # Providers do not say of what modality the tokens are.
            counted = {**about, names.TOKEN_MODALITY: "unknown"}
            yield f"gen_ai.client.inference.usage.{name}", count or 0, counted
            if both:
                yield f"gen_ai.client.inference.operation.{name}", count or 0, timed
        if both and count is not None:
            yield "gen_ai.client.token.usage", count, {**about, names.TOKEN_TYPE: name.partition("_")[0]}


def _picked(said: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: said[key] for key in keys if key in said}
