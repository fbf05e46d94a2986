"""Parts of a foreign span that a log keeps beside its step, or as an event of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lctl.importing.values import dicts, items, mapping, text
from lctl.spans import conventions as names
from lctl.spans.messages import value_of
from lctl.spans.span import Span

_OF_MESSAGES = (
    "llm.input_messages.",
    "llm.output_messages.",
    "gen_ai.prompt.",
    "gen_ai.completion.",
    "llm.tools.",
    "llm.request.functions.",
)
#: Attributes that are told by the events themselves.
_TOLD = frozenset(
    {name for several in names.READ.values() for name in several}
    | {names.INPUT_MESSAGES, names.OUTPUT_MESSAGES, names.SYSTEM_INSTRUCTIONS, names.TOOL_DEFINITIONS}
    | {
        "ai.prompt.messages",
        "ai.response.text",
        "ai.response.reasoning",
        "ai.response.toolCalls",
        "ai.response.object",
        "events",
    }
    | {
        "llm.invocation_parameters",
        "ai.prompt.tools",
        names.OPERATION,
        names.MESSAGES,
        "openinference.span.kind",
    }
)


#: Of a request over HTTP, as the conventions have it now and had it until 2023.
_STATUS = ("http.response.status_code", "http.status_code")


_TRACEBACK = "Traceback (most recent call last)"


def failure(span: Span) -> dict[str, Any]:
    """The failure a span tells of: its exception, else its status."""
    raised = next((mark.attributes for mark in span.marks if mark.name == names.EXCEPTION), {})
    kind = text(span.attributes.get(names.ERROR_TYPE) or raised.get(names.EXCEPTION_TYPE))
    said, _, traceback = span.error.partition(_TRACEBACK)
    if said == "error" or traceback:  # each span that it passes has a longer one
        said = text(raised.get(names.EXCEPTION_MESSAGE)) or said
    status = next((span.attributes[name] for name in _STATUS if name in span.attributes), None)
    if status is not None:
        kind, said = kind or f"http_{status}", said or f"HTTP status {status}"
    return {
        "category": "execution_error",
        "type": kind or "model_call_failed",
        "message": said or "error",
    }


def tool_failure(span: Span) -> Any:
    """What a tool failed with: the words of its status; where that has none, the exception."""
    if span.error != "error" or not any(mark.name == names.EXCEPTION for mark in span.marks):
        return span.error
    failed = failure(span)
    return {"type": failed["type"], "message": failed["message"]}


def same_failure(failure: dict[str, Any]) -> tuple[str, str]:
    """What a failure is known by in each span that it passes: the name and the words of its exception."""
    name = text(failure["type"]).rpartition(".")[2]
    return name, text(failure["message"]).removeprefix(f"{name}: ")


def rest(span: Span) -> dict[str, Any]:
    """What else a foreign span says, kept beside its step."""
    rest = {
        key: value
        for key, value in span.attributes.items()
        if key not in _TOLD and not key.startswith(_OF_MESSAGES) and not key.startswith("gen_ai.usage.")
    }
    links = [{"trace": link.trace_id, "id": link.span_id} for link in span.links]
    found = {
        "id": span.span_id,
        "trace": span.trace_id,
        "attributes": rest,
        "links": links,
        "scope": span.scope,
    }
    return {key: value for key, value in found.items() if value}


def definitions(span: Span) -> list[Any]:
    """Tool definitions that a model was given."""
    said = span.attributes
    given = dicts(value_of(said.get(names.TOOL_DEFINITIONS)))
    if given:
        return [_openai_form(one) for one in given]
    found = []
    n = 0
    while (one := value_of(said.get(f"llm.tools.{n}.tool.json_schema"))) is not None:
        found.append(one)
        n += 1
    return found or _functions(said) or _of_sdks(said)


def _functions(said: dict[str, Any]) -> list[Any]:
    """Those of OpenLLMetry: each field an attribute."""
    found: list[Any] = []
    while text(said.get(name := f"llm.request.functions.{len(found)}.name")):
        one: dict[str, Any] = {"name": said[name]}
        for key, as_ in (
            ("description", "description"),
            ("parameters", "parameters"),
            ("input_schema", "parameters"),
        ):
            value = value_of(said.get(f"{name.removesuffix('name')}{key}"))
            if value is not None:
                one[as_] = value
        found.append({"type": "function", "function": one})
    return found


def _of_sdks(said: dict[str, Any]) -> list[Any]:
    """Those of the AI SDK, JSON each, and of Pydantic AI before it wrote the conventions' attribute."""
    given = [value_of(one) for one in items(value_of(said.get("ai.prompt.tools")))]
    asked = mapping(value_of(said.get("model_request_parameters")))
    for one in dicts(asked.get("function_tools")) + dicts(asked.get("output_tools")):
        given.append({"type": "function", "name": one.get("name"), "description": one.get("description"),
                      "parameters": one.get("parameters_json_schema")})  # fmt: skip
    return [
        _openai_form({("parameters" if key == "inputSchema" else key): value for key, value in one.items()})
        for one in dicts(given)
    ]


def _openai_form(one: dict[str, Any]) -> dict[str, Any]:
    if one.get("type") != "function" or "function" in one:
        return one
    return {"type": "function", "function": {key: value for key, value in one.items() if key != "type"}}


def is_ours(span: Span) -> bool:
    """Whether it says which event of a log of ours it was."""
    return names.SEQ in span.attributes


def outcome(span: Span) -> str | None:
    """How its step ended."""
    said = text(span.attributes.get(names.OUTCOME))
    if said or span.error:
        return said or "error"
    return "success" if span.ok or not is_ours(span) else None


def filled(data: Mapping[str, Any]) -> dict[str, Any]:
    """What of an event's data says something."""
    return {key: value for key, value in data.items() if value not in (None, "", {}, [])}
