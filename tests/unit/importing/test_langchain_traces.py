"""Programs of LangChain as Langfuse's callback and OpenInference's instrumentation trace them."""

from __future__ import annotations

from typing import Any

from lctl.chain import Chain
from tests.unit.importing.peers import imported, otlp, said, span, tools

TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
ASKED = {"name": "weather", "args": {"city": "Rome"}, "id": "c1", "type": "tool_call"}
RESULT = {"content": "sun", "type": "tool", "name": "weather", "tool_call_id": "c1", "status": "success"}
FAILED = "BadRequestError('no such model')Traceback (most recent call last):\n"


def errors(found: Any) -> list[tuple[str, str]]:
    return [(e.data["type"], e.data["message"]) for e in found.log.events() if e.type == "error"]


def test_langfuse() -> None:
    """Its callback has the tools of a call among the messages, and tool calls in LangChain's words; those of
    the Responses API stand in the content, too."""
    about = "langfuse.observation."
    user, tool = {"role": "user", "content": "Rome?"}, {"role": "tool", "content": TOOL}
    call = {
        "role": "assistant",
        "content": [{"type": "function_call", "call_id": "c1"}],
        "tool_calls": [ASKED],
    }
    answer = {"role": "assistant", "content": "Sunny."}

    def generation(read: list[Any], gave: Any) -> dict[str, Any]:
        return {f"{about}type": "generation", f"{about}model.name": "gpt-5-mini",
                f"{about}input": [*read, tool], f"{about}output": gave}  # fmt: skip

    result = {"role": "tool", "content": "sun", "tool_call_id": "c1"}
    ran = {f"{about}type": "tool", f"{about}input": {"city": "Rome"}, f"{about}output": RESULT}
    found = imported(
        otlp(
            span(1, "ChatOpenAI", None, generation([user], call)),
            span(2, "weather", None, ran),
            span(3, "ChatOpenAI", None, generation([user, call, result], answer)),
            scope="langfuse-sdk",
        )
    )
    assert [role for role, _ in said(found)] == ["user", "assistant", "tool", "assistant"]
    (one,) = tools(found)
    assert (one["tool"], one["input"], one["output"], one["call_id"]) == (
        "weather",
        {"city": "Rome"},
        "sun",
        "c1",
    )
    (leaf,) = Chain.of(found.log).tree.leaves
    (asked,) = Chain.of(found.log).transcript(leaf.id)[1]["tool_calls"]
    assert asked["function"] == {"name": "weather", "arguments": '{"city":"Rome"}'}
    first = next(e.data for e in found.log.events() if e.type == "step_start")
    assert first["tool_definitions"] == [TOOL]


def model(n: int, **more: Any) -> dict[str, Any]:
    call = "llm.output_messages.0.message.tool_calls.0.tool_call"
    asked = {f"{call}.id": "c1", f"{call}.function.name": "weather",
             f"{call}.function.arguments": '{"city": "Rome"}'}  # fmt: skip
    return {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-5-mini",
        "llm.invocation_parameters": {
            "model_name": "gpt-5-mini",
            "_type": "openai-chat",
            "stop": None,
            "n": n,
        },
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Rome?",
        "llm.output_messages.0.message.role": "assistant",
        **(more or asked),
    }


def test_openinference() -> None:
    """A tool's run is told by its input as text and by the message that it gave: it is the call's, once."""
    given = {"output.value": {"type": "tool", "data": RESULT}, "tool.name": "weather"}
    ran = {"openinference.span.kind": "TOOL", "input.value": "Rome", **given}
    found = imported(
        otlp(span(1, "ChatOpenAI", None, model(1)), span(2, "weather", None, ran), scope="openinference")
    )
    (one,) = tools(found)
    assert (one["input"], one["output"], one["call_id"]) == ({"city": "Rome"}, "sun", "c1")
    start = next(e.data for e in found.log.events() if e.type == "step_start")
    assert start["params"] == {"n": 1}


def test_openinference_of_a_failed_call() -> None:
    """Each span around it has the failure with a traceback of its own; the call an answer that is empty."""
    raised = {"name": "exception", "attributes": [
        {"key": "exception.type", "value": {"stringValue": "openai.BadRequestError"}},
        {"key": "exception.message", "value": {"stringValue": "no such model"}},
    ]}  # fmt: skip
    status, longer = ({"code": 2, "message": FAILED + more} for more in ("", '  File "graph.py"\n'))
    found = imported(
        otlp(
            span(1, "LangGraph", None, {"openinference.span.kind": "CHAIN"}, events=[raised], status=longer),
            span(2, "ChatOpenAI", 1, model(1, **{"session.id": "s"}), events=[raised], status=status),
        )
    )
    assert errors(found) == [("openai.BadRequestError", "no such model")]
    assert [role for role, _ in said(found)] == ["user"]
