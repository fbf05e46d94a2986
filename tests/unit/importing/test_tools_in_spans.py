"""Runs of tools in spans of agent frameworks."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.importing.peers import ends, imported, otlp, said, span, tools


def test_a_tool_of_strands_has_its_input_and_output() -> None:
    """They are events of its span."""
    told = {
        "gen_ai.tool.message": {"content": '{"q": "x"}'},
        "gen_ai.choice": {"message": '[{"text": "3 hits"}]'},
    }
    events = [
        {
            "name": name,
            "timeUnixNano": "0",
            "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in said.items()],
        }
        for name, said in told.items()
    ]
    about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "grep"}
    (run,) = tools(imported(otlp(span(1, "execute_tool grep", None, about, events=events))))
    assert (run["input"], run["output"]) == ({"q": "x"}, "3 hits")


def test_calls_of_strands_have_each_result_once_and_say_why_they_ended() -> None:
    """Its results are Bedrock's blocks in a tool's message; it writes itself as the provider."""

    def event(name: str, **told: Any) -> dict[str, Any]:
        attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
        return {"name": f"gen_ai.{name}", "timeUnixNano": "0", "attributes": attributes}

    use = json.dumps([{"toolUse": {"toolUseId": "t1", "name": "grep", "input": {"q": "x"}}}])
    result = {"toolUseId": "t1", "status": "success", "content": [{"text": "3 hits"}]}
    ask = event("user.message", content='[{"text": "find x"}]')
    about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.system": "strands-agents"}
    first = [ask, event("choice", finish_reason="tool_use", message=use)]
    second = [
        ask,
        event("assistant.message", content=use),
        event("tool.message", content=json.dumps([{"toolResult": result}])),
        event("choice", finish_reason="end_turn", message='[{"text": "found"}]'),
    ]
    found = imported(
        otlp(
            span(1, "first", None, about, events=first),
            span(2, "second", None, about, events=second),
        )
    )
    assert [role for role, _ in said(found)] == ["user", "assistant", "user", "assistant"]
    assert [(run["tool"], run["call_id"]) for run in tools(found)] == [("grep", "t1")]
    reasons = {name: end["finish_reason"] for name, end in ends(found).items()}
    assert reasons == {"first": "tool_use", "second": "end_turn"}
    assert not [e for e in found.log.events() if e.type == "step_start" and e.data.get("provider")]


def test_results_that_adk_puts_together_are_no_tool() -> None:
    about = {"gen_ai.operation.name": "execute_tool"}
    found = imported(
        otlp(
            span(1, "execute_tool grep", None, {**about, "gen_ai.tool.name": "grep"}),
            span(2, "execute_tool (merged)", None, {**about, "gen_ai.tool.name": "(merged tools)"}),
            scope="gcp.vertex.agent",
        )
    )
    assert [run["tool"] for run in tools(found)] == ["grep"]


def test_a_tool_that_raised_says_what() -> None:
    """As Pydantic AI tells it: a status without words, an exception; the agent fails by the same one."""
    raised = {"exception.type": "ValueError", "exception.message": "no such q"}
    event = {"name": "exception", "timeUnixNano": "0", "attributes": [
        {"key": key, "value": {"stringValue": value}} for key, value in raised.items()
    ]}  # fmt: skip
    about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "grep"}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder"}
    found = imported(
        otlp(
            span(1, "invoke_agent finder", None, agent, status={"code": 2}, events=[event]),
            span(2, "execute_tool grep", 1, about, status={"code": 2}, events=[event]),
        )
    )
    (run,) = tools(found)
    assert run["error"] == {"type": "ValueError", "message": "no such q"}
    assert not [event for event in found.log.events() if event.type == "error"]
    assert ends(found)["invoke_agent finder"]["outcome"] == "error"
