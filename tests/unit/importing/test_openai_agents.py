"""Traces of the OpenAI Agents SDK, as its processors export them (0.24.0): what ended first comes first."""

from __future__ import annotations

from typing import Any

from lctl.chain import Chain
from tests.unit.importing.sources import Rows, imported_lines, lost, tree

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":2}'}}
ASK: Rows = [{"content": "S", "role": "system"}, {"role": "user", "content": "add 2"}]
ANSWER: dict[str, Any] = {"content": None, "role": "assistant", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "4!"}
USAGE = {
    "requests": 1, "input_tokens": 20, "output_tokens": 7, "total_tokens": 27,
    "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 2},
}  # fmt: skip


def span(
    id: str, parent: str | None, begun: int, ended: int, error: Any = None, **data: Any
) -> dict[str, Any]:
    return {
        "object": "trace.span", "id": f"span_{id}", "trace_id": "trace_1",
        "parent_id": f"span_{parent}" if parent else None,
        "started_at": f"2026-11-28T15:32:{begun:02}.000000+00:00",
        "ended_at": f"2026-11-28T15:32:{ended:02}.500000+00:00", "span_data": data, "error": error,
    }  # fmt: skip


def generation(given: Rows, asked: Rows) -> dict[str, Any]:
    empty: dict[str, Any] = {"refusal": None, "annotations": [], "audio": None, "function_call": None}
    return {
        "type": "generation", "input": asked, "output": [{**empty, **one} for one in given],
        "model": "gpt-4.1", "model_config": {"temperature": 0.5, "top_p": None}, "usage": USAGE,
    }  # fmt: skip


def test_agents_calls_and_tools_nest_as_they_did() -> None:
    tool = {"type": "function", "name": "add", "input": '{"a":2}', "output": "4!", "mcp_data": None}
    final: Rows = [{"role": "assistant", "content": "4"}]
    found = imported_lines(
        [
            span("g1", "a", 1, 2, **generation([ANSWER], ASK)),
            span("t", "a", 3, 3, **tool),
            span("g2", "a", 4, 5, **generation(final, [*ASK, ANSWER, RESULT])),
            span("a", None, 0, 6, type="agent", name="Calc", handoffs=[], tools=["add"], output_type="str"),
            {"object": "trace", "id": "trace_1", "workflow_name": "W", "group_id": None, "metadata": None},
        ]
    )
    assert (found.form, lost(found)) == ("openai-agents", {})
    (leaf,) = tree(found).leaves
    assert [node.role for node in tree(found).path(leaf.id)] == [
        "system", "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    events = Chain.of(found.log).events
    starts = [event for event in events if event.type == "step_start"]
    assert [(event.data["kind"], event.step, event.agent) for event in starts] == [
        ("agent", None, "Calc"), ("llm", 1, "Calc"), ("llm", 1, "Calc"),
    ]  # fmt: skip
    assert starts[1].data["params"] == {"temperature": 0.5}
    end = next(event.data for event in events if event.type == "step_end")
    assert end["tokens"] == {"input": 20, "output": 7, "cache_read": 4, "reasoning": 2}
    assert (end["model"], end["duration_ms"]) == ("gpt-4.1", 1500.0)
    (ran,) = [event.data for event in events if event.type == "tool_call"]
    assert ran == {
        "tool": "add", "input": {"a": 2}, "output": "4!", "call_id": "c1", "duration_ms": 500.0,
    }  # fmt: skip


def test_what_failed_and_what_the_sdk_keeps_to_itself() -> None:
    """A call of the Responses API is exported without its messages; its tokens are there."""
    error = {"message": "Error running tool", "data": {"tool_name": "add", "error": "no 2 \u00e9"}}
    found = imported_lines(
        [
            span("r", "a", 1, 2, type="response", response_id="resp_1", usage=USAGE),
            span("t", "a", 3, 3, error, type="function", name="add", input="{}", output=None),
            span("a", None, 0, 6, type="agent", name="Calc"),
        ]
    )
    tree(found)
    assert lost(found) == {"model span without messages (their content was not traced)": 1}
    events = Chain.of(found.log).events
    end = next(event.data for event in events if event.type == "step_end")
    assert (end["response_id"], end["tokens"]["input"]) == ("resp_1", 20)
    (ran,) = [event.data for event in events if event.type == "tool_call"]
    assert ran["error"] == "Error running tool: no 2 \u00e9"


def test_a_failed_call_is_one_failure() -> None:
    """The agent's span around it tells of it, too, in other words; the turn's between them does not."""
    why = {"error": "Error code: 400 - no such model"}
    call = {**generation([], ASK), "output": None}
    found = imported_lines(
        [
            span("g", "t", 1, 2, {"message": "Error getting response", "data": why}, **call),
            span("t", "a", 1, 3, type="custom", name="turn", data={}),
            span("a", None, 0, 4, {"message": "Error in agent run", "data": why}, type="agent", name="Calc"),
        ]
    )
    errors = [event for event in Chain.of(found.log).events if event.type == "error"]
    assert [event.data["message"] for event in errors] == ["Error code: 400 - no such model"]
    assert {e.data["outcome"] for e in Chain.of(found.log).events if e.type == "step_end"} == {
        "error",
        "success",
    }
