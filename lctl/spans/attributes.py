"""Steps and tool calls as attributes of the conventions, and what is left of them as ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from lctl.codec.lines import encode_value
from lctl.spans import conventions as names
from lctl.spans.parts import tool_definitions
from lctl.values import real, whole_number

Data = Mapping[str, Any]

_TOKENS = {
    "input": names.INPUT_TOKENS,
    "output": names.OUTPUT_TOKENS,
    "cache_read": names.CACHE_READ,
    "cache_write": names.CACHE_WRITE,
    "reasoning": names.REASONING,
}
#: Keys that have an attribute of their own, or follow from the span.
_START = frozenset(
    {
        "kind",
        "intent",
        "model",
        "provider",
        "operation",
        "prompt",
        "tools",
        "tool_definitions",
        "stream",
    }
)
_END = frozenset(
    {"outcome", "model", "response_id", "finish_reason", "tokens", "message", "messages", "first_chunk_ms"}
)
_TOOL = frozenset(
    {"tool", "input", "output", "error", "call_id", "derived", "duration_ms", "lane", "at", "match", "tape"}
)
_TAPE = frozenset({"lane", "at", "match"})


def as_text(value: Any) -> str:
    """JSON; text as it is."""
    return value if isinstance(value, str) else encode_value(value).decode("utf-8", "replace")


def json_text(value: Any) -> str:
    """JSON, of a text too: so that it comes back as what it was."""
    return encode_value(value).decode("utf-8", "replace")


def operation_of(data: Data, above: str = "") -> str:
    """`gen_ai.operation.name` of a step; "" where the conventions have no word for its kind.

    Args:
        above: kind of the step around it.
    """
    kind = text(data.get("kind"))
    if kind in ("llm", "embedding"):
        return names.CALLS.get(text(data.get("operation")), names.OPERATIONS[kind])
    if not kind and above != "agent":
        return "invoke_agent"  # the protocol's own steps are of agents
    return names.OPERATIONS.get(kind, "")


def reasons_of(data: Data) -> list[Any]:
    """Of a model call's `step_end`: why each of its answers ended; one reason, where it is that of all."""
    several = data.get("finish_reasons")
    return several if isinstance(several, list) else [data.get("finish_reason")]


def span_name(operation: str, data: Data, agent: str) -> str:
    """As the conventions name spans: what is done, and by or to whom."""
    kind = text(data.get("kind"))
    said = text(data.get("intent")) or text(data.get("name")) or kind or "step"
    if kind in ("llm", "embedding"):
        return f"{operation} {model_name(data)}".strip()
    if operation == "invoke_agent":
        return f"invoke_agent {agent}".strip()
    if operation == "execute_tool":
        return f"execute_tool {text(data.get('tool')) or said}"
    return f"{operation} {said}" if operation else said


def started(data: Data, agent: str, operation: str) -> dict[str, Any]:
    """What is known of a step when it begins."""
    found: dict[str, Any] = {
        names.OPERATION: operation,
        names.AGENT: agent,
        names.KIND: text(data.get("kind")),
        names.INTENT: text(data.get("intent")),
        names.LCTL_OPERATION: text(data.get("operation")),
        names.AGENT_NAME: agent if operation in ("invoke_agent", "plan") else "",
        names.WORKFLOW_NAME: text(data.get("intent")) if operation == "invoke_workflow" else "",
        names.TOOL_NAME: text(data.get("tool")) or text(data.get("intent"))
        if operation == "execute_tool"
        else "",
        names.PROVIDER: provider_name(data.get("provider")),
        names.REQUEST_MODEL: model_name(data),
        names.REQUEST_STREAM: True if data.get("stream") is True else None,
    }
    if text(data.get("kind")) in ("llm", "embedding") and not found[names.PROVIDER]:
        found[names.PROVIDER] = "unknown"  # the conventions require one
    found |= params(data.get("params"))
    definitions = data.get("tool_definitions")
    if isinstance(definitions, list):
        found[names.TOOL_DEFINITIONS] = json_text(tool_definitions(definitions))
    if text(data.get("kind")) == "retriever" and isinstance(data.get("input"), str):
        found[names.QUERY] = data["input"]
    more = {key: value for key, value in data.items() if key not in _START}
    if more:
        found[names.START_MORE] = json_text(more)
    return filled(found)


def ended(data: Data, failed: bool, kind: str) -> dict[str, Any]:
    """What is known of a step when it has ended."""
    outcome = text(data.get("outcome"))
    reasons = [text(reason) for reason in reasons_of(data)]
    first = real(data.get("first_chunk_ms"))
    found: dict[str, Any] = {
        names.OUTCOME: outcome if outcome != "success" else "",
        names.RESPONSE_MODEL: model_name(data) if kind in ("llm", "embedding") else "",
        names.RESPONSE_ID: text(data.get("response_id")),
        names.FINISH_REASONS: reasons if any(reasons) else None,
        names.FIRST_CHUNK: first / 1000 if first is not None else None,
        names.ERROR_TYPE: "error" if failed else "",
    }
    tokens = data.get("tokens")
    if isinstance(tokens, Mapping):
        for key, name in _TOKENS.items():
            count = whole_number(tokens.get(key))
            if count is not None:
                found[name] = count
                if name in names.ALSO:
                    found[names.ALSO[name]] = count
    embedding = data.get("embedding")
    if isinstance(embedding, Mapping) and isinstance(embedding.get("dimensions"), int):
        found[names.EMBEDDING_DIMENSIONS] = embedding["dimensions"]
    more = {key: value for key, value in data.items() if key not in _END and key not in _TAPE}
    rest = {key: n for key, n in tokens.items() if key not in _TOKENS} if isinstance(tokens, Mapping) else {}
    if rest:
        more["tokens"] = rest
    if more:
        found[names.END_MORE] = json_text(more)
    return filled(found)


def tool_call(data: Data, agent: str, took: float) -> dict[str, Any]:
    """A `tool_call` event as the attributes of a tool's span, which took so many milliseconds there."""
    error = data.get("error")
    found: dict[str, Any] = {
        names.OPERATION: "execute_tool",
        names.TOOL_NAME: text(data.get("tool")) or "?",
        names.TOOL_TYPE: "function",
        names.TOOL_CALL_ID: text(data.get("call_id")),
        names.AGENT: agent,
        names.TOOL_ARGUMENTS: json_text(data["input"]) if "input" in data else "",
        names.TOOL_RESULT: json_text(data["output"]) if "output" in data else "",
        names.DERIVED: True if data.get("derived") is True else None,
        names.ERROR_TYPE: error_type(error) if error is not None else "",
    }
    if error is not None:
        found[names.DATA] = json_text(error)
    more = {key: value for key, value in data.items() if key not in _TOOL}
    told = real(data.get("duration_ms"))
    if told is None or abs(told - took) > 0.0005:
        more["duration_ms"] = data.get("duration_ms")
    if more:
        found[names.START_MORE] = json_text(more)
    return filled(found)


def error_type(error: Any) -> str:
    """A short name for an error: its class or category, "tool_error" where it only says a sentence."""
    if isinstance(error, Mapping):
        return text(error.get("type")) or text(error.get("category")) or "tool_error"
    return "tool_error"


def error_text(error: Any) -> str:
    if isinstance(error, Mapping):
        return text(error.get("message")) or as_text(dict(error))
    return "error" if error is True else as_text(error)


def params(given: Any) -> dict[str, Any]:
    """Parameters of a request that the conventions name."""
    found: dict[str, Any] = {}
    if not isinstance(given, Mapping):
        return found
    for key, (name, kind) in names.PARAMS.items():
        value = given.get(key)
        if value is None or isinstance(value, bool):
            continue
        if kind is float and isinstance(value, int | float):
            found[name] = real(value)
        elif kind is list:
            found[name] = [
                one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)
            ]
        elif isinstance(value, kind) and not (name.endswith("choice.count") and value == 1):
            found[name] = value
    reasoning = given.get("reasoning")
    if isinstance(reasoning, Mapping) and isinstance(reasoning.get("effort"), str):
        found[names.PARAMS["reasoning_effort"][0]] = reasoning["effort"]
    format = given.get("response_format")
    if isinstance(format, Mapping) and text(format.get("type")).startswith("json"):
        found["gen_ai.output.type"] = "json"
    return found


def address(url: Any) -> dict[str, Any]:
    """Where a model call went."""
    try:
        parts = urlsplit(text(url))
        host, port = parts.hostname, parts.port
    except ValueError:
        return {}
    if not host:
        return {}
    port = port or {"https": 443, "http": 80}.get(parts.scheme)
    return filled({names.SERVER_ADDRESS: host, names.SERVER_PORT: port})


def provider_name(provider: Any) -> str:
    known = text(provider)
    return names.PROVIDERS.get(known, known)


def model_name(data: Data) -> str:
    model = data.get("model")
    if isinstance(model, Mapping):
        model = model.get("id")
    return text(model)


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def filled(found: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if value not in (None, "", [])}
