"""What a span stands for: a model call, a tool's run, an agent's step, ...

One answer for every convention; `lctl.spans.conventions.READ` has the names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lctl.spans import conventions as names
from lctl.spans.langchain import tool_result
from lctl.spans.messages import json_of, messages_of, value_of
from lctl.spans.span import Span
from lctl.spans.values import dicts, mapping, real, said_number, text, tokens

MODEL_KINDS = frozenset({"llm", "embedding"})
_OPENINFERENCE = {
    "llm": "llm", "tool": "tool", "agent": "agent", "chain": "chain", "retriever": "retriever",
    "embedding": "embedding", "reranker": "reranker", "guardrail": "guardrail", "evaluator": "evaluator",
    "prompt": "prompt",
}  # fmt: skip
_TRACELOOP = {"workflow": "chain", "task": "task", "agent": "agent", "tool": "tool"}
_LLM_TYPES = {"chat": "llm", "completion": "llm", "embedding": "embedding", "rerank": "reranker"}
#: How the names of spans end that Laminar calls LLM, too, and that are none.
_LAMINAR_EMBEDDINGS = frozenset({"embeddings", "embedding", "embed"})
#: The event of a span that tells of an answer, as Strands writes it.
_CHOICE = "gen_ai.choice"
#: What ADK calls the results of several tools put together; each has a span of its own.
_MERGED = "(merged tools)"
_COUNTS = ("input", "output", "cache_read", "cache_write", "reasoning", "input_audio", "output_audio")
#: What else is told as a parameter of a call.
_NO_PARAMS = frozenset({"model", "model_name", "messages", "tools", "stream", "_type"})
_OPERATIONS = {**names.KINDS, "completion": "llm", "create_response": "llm", "responses": "llm"}


class Called(NamedTuple):
    """A model call as its span tells of it; tokens under the protocol's names."""

    model: str | None
    provider: str | None
    tokens: dict[str, int] | None
    finish_reason: str | None
    response_id: str | None
    error: str | None
    params: dict[str, Any] | None
    duration_ms: float | None
    first_chunk_ms: float | None


def kind_of(span: Span) -> str:
    """A step's kind; "span" of one that is no work of a model."""
    said = span.attributes
    if names.SEQ in said:
        return text(said.get(names.KIND)) or ("agent" if names.TOOL_NAME not in said else "tool")
    operation = text(said.get(names.OPERATION))
    if said.get(names.TOOL_NAME) == _MERGED:
        return "span"
    if operation:
        return _OPERATIONS.get(operation, operation)
    for key, kinds in (
        ("openinference.span.kind", _OPENINFERENCE),
        ("traceloop.span.kind", _TRACELOOP),
        ("llm.request.type", _LLM_TYPES),
    ):
        known = kinds.get(text(said.get(key)).lower())
        if known:
            return known
    return _by_attributes(span)


def _by_attributes(span: Span) -> str:
    said = span.attributes
    if "ai.prompt.messages" in said:
        return "llm"
    if "ai.toolCall.name" in said:
        return "tool"
    if "ai.embedding" in said or "ai.value" in said:
        return "embedding"
    if text(said.get("ai.operationId")):
        return "chain"
    if said.get("mcp.method.name") == "tools/call" or (
        names.TOOL_NAME in said and not any(key.startswith("gen_ai.usage.") for key in said)
    ):
        return "tool"
    if "lmnr.span.type" in said and span.name.rpartition(".")[2] in _LAMINAR_EMBEDDINGS:
        return "embedding"
    if any(messages_of(span)) or _first(said, "input") is not None or _first(said, "output") is not None:
        return "llm"
    if text(said.get("agent_name")) and span.scope.startswith(("pydantic-ai", "logfire")):
        return "agent"
    if any(key.startswith(("gen_ai.request.", "llm.model")) for key in said):
        return "llm"
    return _OPERATIONS.get(_named(span)[0], "span")


def _named(span: Span) -> tuple[str, str]:
    """What was done, by which model, as its name has it: all that OpenLIT tells of a call to Anthropic that
    failed."""
    if span.attributes or not span.scope.startswith("openlit."):
        return "", ""
    word, _, model = span.name.partition(" ")
    return word, model


def call_of(span: Span) -> Called:
    """The call that a model's span tells of."""
    said = span.attributes
    reason = value_of(_first(said, "finish_reason"))  # Logfire writes a list as JSON
    if reason is None and names.SEQ not in said:
        reason = [one.get("finish_reason") for one in dicts(value_of(said.get(names.OUTPUT_MESSAGES)))]
    if not reason and names.SEQ not in said:
        reason = next(
            (one.attributes.get("finish_reason") for one in span.marks if one.name == _CHOICE), None
        )
    response = {} if names.RESPONSE_ID in said else _response(said)
    first = _first_chunk(span)
    counted = {name: _first(said, name) for name in _COUNTS}
    read = tokens(**{name: _count(value) for name, value in counted.items()})
    return Called(
        model=text(_first(said, "model")) or _model_asked(said) or _named(span)[1] or None,
        provider=_provider(text(_first(said, "provider")).lower()),
        tokens=_all_read(read, said),
        finish_reason=text(next(iter(reason), None) if isinstance(reason, list | tuple) else reason)
        or text(response.get("status"))
        or None,
        response_id=text(_first(said, "response_id")) or text(response.get("id")) or None,
        error=span.error or None,
        params=_params(said) or None,
        duration_ms=took(span),
        first_chunk_ms=round(first * 1000, 3) if isinstance(first, int | float) else None,
    )


def _response(said: dict[str, Any]) -> dict[str, Any]:
    """The answer of the Responses API, which OpenInference keeps whole and nowhere else tells the id of."""
    output = said.get("output.value")
    held = mapping(value_of(output)) if isinstance(output, str) and '"response"' in output else {}
    return held if held.get("object") == "response" else {}


def cost_of(span: Span) -> float | None:
    """What a call cost, as the span says; None where it does not, or says 0 for a model it does not know."""
    cost = real(_first(span.attributes, "cost"))
    return cost if cost is not None and cost > 0 else None


def is_stream(span: Span) -> bool:
    """Whether a call's answer came in pieces."""
    asked = mapping(value_of(span.attributes.get("llm.invocation_parameters")))
    return _first(span.attributes, "stream") is True or asked.get("stream") is True


def _first_chunk(span: Span) -> Any:
    """Seconds to the first chunk; None where the span does not say."""
    said = span.attributes
    if names.FIRST_CHUNK in said:
        return said[names.FIRST_CHUNK]
    told = _first(said, "first_token")
    if told is not None and is_stream(span):
        return told
    at = next((mark.at_ns for mark in span.marks if mark.name == names.FIRST_EVENT), 0)
    return (at - span.start_ns) / 1e9 if at >= span.start_ns > 0 else None


def _all_read(counts: dict[str, int] | None, said: dict[str, Any]) -> dict[str, int] | None:
    """Counts with all that the model read in `input`: of what came from a cache it holds no less. OpenLIT
    writes Anthropic's own number, which leaves that out. What lctl wrote comes back as it was."""
    if names.SEQ in said:
        return counts
    cached = sum((counts or {}).get(name, 0) for name in ("cache_read", "cache_write"))
    if counts and counts.get("input", cached) < cached:
        return {**counts, "input": counts["input"] + cached}
    return counts


def took(span: Span) -> float | None:
    """Milliseconds; None where the span does not say."""
    if span.end_ns and span.start_ns and span.end_ns >= span.start_ns:
        return round((span.end_ns - span.start_ns) / 1e6, 3)
    return None


def requested_model(span: Span) -> str | None:
    return (
        text(_first(span.attributes, "request_model"))
        or _model_asked(span.attributes)
        or _named(span)[1]
        or None
    )


def _model_asked(said: dict[str, Any]) -> str:
    """The model among the parameters of a request that was not answered (OpenInference)."""
    return text(mapping(value_of(said.get("llm.invocation_parameters"))).get("model"))


def agent_of(span: Span) -> str:
    """Who did it, as far as the span itself says."""
    said = span.attributes
    if names.AGENT in said or names.SEQ in said:
        return text(said.get(names.AGENT))
    named = text(_first(said, "agent"))
    if named:
        return named
    return text(said.get("traceloop.entity.name")) if said.get("traceloop.span.kind") == "agent" else ""


def tool_of(span: Span) -> dict[str, Any]:
    """A tool's run as the data of a `tool_call`, without an error."""
    said = span.attributes
    name = text(_first(said, "tool")) or span.name.removeprefix("execute_tool ").removesuffix(".tool") or "?"
    found: dict[str, Any] = {"tool": name}
    for key, meaning in (("input", "tool_input"), ("output", "tool_output")):
        value = _first(said, meaning)
        if value is not None:
            found[key] = json_of(value) if names.SEQ in said else _unwrapped(value_of(value))
    found = {**_in_marks(span), **found}
    result = None if names.SEQ in said else tool_result(found.get("output"))
    if result is not None:
        found["output"], found["call_id"] = result
    call_id = text(_first(said, "call_id"))
    if call_id:
        found["call_id"] = call_id
    duration = took(span)
    return found if duration is None else {**found, "duration_ms": duration}


def _in_marks(span: Span) -> dict[str, Any]:
    """What a tool was given and gave, as Strands tells it: in events of the span."""
    told = {mark.name: mark.attributes for mark in span.marks}
    found: dict[str, Any] = {}
    for key, name, where in (
        ("input", "gen_ai.tool.message", "content"),
        ("output", "gen_ai.choice", "message"),
    ):
        value = value_of(told.get(name, {}).get(where))
        blocks = dicts(value)
        if len(blocks) == 1 and blocks[0].keys() == {"text"}:
            value = blocks[0]["text"]
        if value is not None:
            found[key] = value
    return found


def _unwrapped(value: Any) -> Any:
    """A tool's input or output without what OpenLLMetry puts around it."""
    held = mapping(value)
    if held.keys() == {"args", "kwargs"}:
        return value if held["args"] else held["kwargs"]
    if held.keys() == {"output", "kwargs"}:
        return held["output"]
    return held.get("inputs") or held["input_str"] if "input_str" in held and "kwargs" in held else value


def work_of(span: Span) -> tuple[Any, Any]:
    """What a step worked on, and what came of it; None where the span does not say."""
    read, gave = (value_of(_first(span.attributes, name)) for name in ("work_input", "work_output"))
    return read, gave


def _params(said: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, (name, _) in names.PARAMS.items():
        if name in said and said[name] != -1 and name not in {names.PARAMS[other][0] for other in found}:
            value = said[name]
            # The conventions write it as a float; a provider takes a whole number.
            found[key] = int(value) if key == "top_k" and real(value) is not None else value
    given = value_of(said.get("llm.invocation_parameters"))
    return found or {
        key: value for key, value in mapping(given).items() if key not in _NO_PARAMS and value is not None
    }


def _provider(named: str) -> str | None:
    """A provider as lctl calls it. Some write what follows it (`openai.chat`, `openai.responses`)."""
    if named in ("", "unknown", "strands-agents"):
        return None
    return names.OUR_PROVIDERS.get(named) or (
        named if named in ("x-ai",) or "." not in named else names.OUR_PROVIDERS.get(named.partition(".")[0])
        or named.partition(".")[0]
    )  # fmt: skip


def _count(value: Any) -> Any:
    said = said_number(value)
    return value if said is None else said


def _first(said: dict[str, Any], meaning: str) -> Any:
    return next((said[name] for name in names.READ[meaning] if said.get(name) not in (None, "")), None)
