"""Traces that are spans of OpenTelemetry, as other tools write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lctl.chain import Chain
from lctl.errors import NotImportable
from lctl.importing import convert
from lctl.importing.source import Source
from lctl.training import samples
from tests.unit.importing.peers import ends, imported, said, steps, tools


@pytest.mark.parametrize("shape", ["api", "frame", "otlp"])
def test_phoenix_spans_in_its_three_forms(shape: str) -> None:
    """Pages of the API in its own form and in OTLP's, and a data frame as records."""
    attributes = {
        "llm.model_name": "gpt-4o",
        "llm.provider": "openai",
        "llm.token_count.prompt": 5,
        "llm.token_count.completion": 1,
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "2+2?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "4",
        "openinference.span.kind": "LLM",
    }
    start, end = "2026-01-01T00:00:01+00:00", "2026-01-01T00:00:02+00:00"
    value: Any
    span: dict[str, Any]
    if shape == "api":
        span = {
            "id": "x",
            "name": "call",
            "context": {"trace_id": "t", "span_id": "s"},
            "span_kind": "LLM",
            "parent_id": None,
            "start_time": start,
            "end_time": end,
            "status_code": "OK",
            "status_message": "",
            "attributes": attributes,
            "events": [],
        }
        value = {"data": [span], "next_cursor": None}
    elif shape == "frame":
        value = [
            {
                "name": "call",
                "span_kind": "LLM",
                "parent_id": None,
                "start_time": start,
                "end_time": end,
                "status_code": "OK",
                "status_message": "",
                "events": [],
                "context.span_id": "s",
                "context.trace_id": "t",
                **{
                    f"attributes.{key}": one
                    for key, one in attributes.items()
                    if not key.startswith(("llm.input", "llm.output"))
                },
                "attributes.llm.input_messages": [{"message.role": "user", "message.content": "2+2?"}],
                "attributes.llm.output_messages": [{"message": {"role": "assistant", "content": "4"}}],
            }
        ]
    else:
        tagged = [
            {
                "key": key,
                "value": {
                    "int_value": one if isinstance(one, int) else None,
                    "string_value": one if isinstance(one, str) else None,
                },
            }
            for key, one in attributes.items()
        ]
        value = {
            "data": [
                {
                    "name": "call",
                    "trace_id": "t",
                    "span_id": "s",
                    "parent_span_id": None,
                    "start_time_unix_nano": 1767225601 * 10**9,
                    "end_time_unix_nano": 1767225602 * 10**9,
                    "status": {"code": 1, "message": None},
                    "attributes": tagged,
                    "events": None,
                }
            ],
            "next_cursor": "more",
        }
    found = imported(value)
    assert found.form == "phoenix"
    assert steps(found) == [("llm", "call", "assistant", None)]
    end_of = ends(found)["call"]
    assert (end_of["tokens"], end_of["model"], end_of["duration_ms"]) == (
        {"input": 5, "output": 1},
        "gpt-4o",
        1000.0,
    )
    assert said(found) == [("user", "2+2?"), ("assistant", "4")]
    assert ["pages" in loss.what for loss in found.lost] == ([True] if shape == "otlp" else [])


def test_openllmetry_workflow_with_its_tool_and_messages_as_events() -> None:
    """Traceloop's kinds and entities; a Strands-like call whose messages are events of its span."""

    def span(
        id: str, parent: str, name: str, at: int, *, events: Any = (), **attributes: Any
    ) -> dict[str, Any]:
        return {
            "traceId": "t",
            "spanId": id,
            "parentSpanId": parent,
            "name": name,
            "startTimeUnixNano": str((1767225600 + at) * 10**9),
            "endTimeUnixNano": str((1767225601 + at) * 10**9),
            "events": list(events),
            "attributes": [
                {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
            ],
        }

    def event(name: str, **attributes: str) -> dict[str, Any]:
        tagged = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        return {"name": name, "timeUnixNano": "0", "attributes": tagged}

    spans = [
        span(
            "1",
            "",
            "job.workflow",
            0,
            **{
                "traceloop.span.kind": "workflow",
                "traceloop.entity.name": "job",
                "traceloop.entity.input": '{"inputs": {"q": 1}}',
            },
        ),
        span(
            "2",
            "1",
            "add.tool",
            1,
            **{
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "add",
                "traceloop.entity.input": '{"a": 2}',
                "traceloop.entity.output": "4",
            },
        ),
        span(
            "3",
            "1",
            "chat",
            2,
            events=[
                event("gen_ai.user.message", content='"2+2?"'),
                event("gen_ai.choice", message="4", finish_reason="end_turn"),
            ],
            **{
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "m",
                "gen_ai.system": "strands-agents",
            },
        ),
    ]
    found = imported({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    assert [one[:2] for one in steps(found)] == [("chain", "job.workflow"), ("llm", "chat")]
    (ran,) = tools(found)
    assert (ran["tool"], ran["input"], ran["output"]) == ("add", {"a": 2}, "4")
    assert said(found) == [("user", "2+2?"), ("assistant", "4")]


def test_logfire_agent_run_with_events_in_an_attribute() -> None:
    """Pydantic AI's spans of before: an agent's run, a chat whose messages are JSON, a running tool."""
    events = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "2+2?"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "4"}},
    ]

    def span(id: str, parent: str | None, name: str, **attributes: Any) -> dict[str, Any]:
        return {
            "name": name,
            "context": {"trace_id": "0x01", "span_id": f"0x0{id}"},
            "parent_id": parent and f"0x0{parent}",
            "start_time": f"2026-01-01T00:00:0{id}.000000Z",
            "end_time": f"2026-01-01T00:00:0{id}.500000Z",
            "status": {"status_code": "UNSET"},
            "attributes": attributes,
        }

    found = imported(
        [
            span("1", None, "agent run", agent_name="adder", **{"gen_ai.operation.name": "invoke_agent"}),
            span(
                "2",
                "1",
                "chat gpt-4o",
                events=json.dumps(events),
                **{
                    "gen_ai.request.model": "gpt-4o",
                    "gen_ai.system": "openai",
                    "gen_ai.usage.input_tokens": 5,
                },
            ),
            span(
                "3",
                "1",
                "running tool",
                tool_arguments='{"a": 2}',
                tool_response="4",
                **{"gen_ai.tool.name": "add", "gen_ai.tool.call.id": "c1"},
            ),
        ]
    )
    assert steps(found) == [
        ("agent", "agent run", "adder", None),
        ("llm", "chat gpt-4o", "adder", "agent run"),
    ]
    (ran,) = tools(found)
    assert (ran["tool"], ran["input"], ran["output"], ran["call_id"]) == ("add", {"a": 2}, "4", "c1")
    assert said(found) == [("user", "2+2?"), ("assistant", "4")]


def test_langsmith_runs_as_spans() -> None:
    """As its exporter for OpenTelemetry writes them: inputs and outputs as JSON, in one attribute each."""
    human = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"]}
    asked = {"messages": [[{**human, "kwargs": {"content": "hi", "type": "human"}}]]}
    call = {"id": "c1", "name": "look", "args": {"q": "x"}}
    answer = {"content": "", "type": "ai", "tool_calls": [call]}
    given = {"generations": [[{"message": {"type": "constructor", "kwargs": answer}}]]}
    invocation = {"temperature": 0.2, "tools": [{"type": "function", "function": {"name": "look"}}]}
    runs: list[tuple[str, str, dict[str, Any]]] = [
        ("agent", "", {"langsmith.span.kind": "chain", "gen_ai.prompt": '{"input": "hi"}'}),
        ("ChatOpenAI", "agent", {
            "langsmith.span.kind": "llm",
            "langsmith.metadata.ls_provider": "openai",
            "langsmith.metadata.invocation_params": json.dumps(invocation),
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.model": "gpt-4o-2024-08-06",
            "gen_ai.usage.input_tokens": 9,
            "gen_ai.usage.output_tokens": 4,
            "langsmith.usage_metadata": '{"input_tokens": 9, "input_token_details": {"cache_read": 3}}',
            "gen_ai.prompt": json.dumps(asked),
            "gen_ai.completion": json.dumps(given),
        }),
        ("look", "agent", {
            "langsmith.span.kind": "tool",
            "gen_ai.prompt": '{"input": "{\\"q\\": \\"x\\"}"}',
            "gen_ai.completion": '{"output": {"type": "tool", "tool_call_id": "c1", "content": "found"}}',
        }),
    ]  # fmt: skip
    log = imported(
        [
            {
                "name": name,
                "context": {"trace_id": "t", "span_id": name},
                "parent_id": parent or None,
                "start_time": f"2026-01-01T00:00:0{n}Z",
                "end_time": f"2026-01-01T00:00:0{n + 1}Z",
                "attributes": attributes,
                "resource": {"attributes": {"service.name": "unknown_service:python"}},
            }
            for n, (name, parent, attributes) in enumerate(runs)
        ]
    )
    assert said(log)[0] == ("user", "hi") and said(log)[1][0] == "assistant"
    assert steps(log)[1][:2] == ("llm", "ChatOpenAI")
    end = ends(log)["ChatOpenAI"]
    assert (end["model"], end["tokens"]) == (
        "gpt-4o-2024-08-06",
        {"input": 9, "output": 4, "cache_read": 3},
    )
    start = next(event.data for event in log.log.events() if event.data.get("kind") == "llm")
    assert (start["provider"], start["params"]) == ("openai", {"temperature": 0.2})
    (tool,) = tools(log)
    assert (tool["tool"], tool["input"], tool["output"]) == ("look", {"q": "x"}, "found")
    assert tool["call_id"] == "c1"
    assert all("unknown_service" not in event.agent for event in log.log.events())


def test_a_call_told_by_two_layers_counts_once() -> None:
    """A framework's model span around its client's: one call; the other is a step without tokens."""
    messages = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "q"}]}]),
    }
    outer = {"name": "chat m", "context": {"trace_id": "1", "span_id": "a"}, "attributes": messages}
    inner = {
        "name": "client",
        "context": {"trace_id": "1", "span_id": "b"},
        "parent_id": "a",
        "attributes": messages,
    }
    found = imported([outer, inner])
    assert [one[0] for one in steps(found)] == ["llm", "span"]
    assert {name: data.get("tokens") for name, data in ends(found).items()} == {
        "chat m": {"input": 5},
        "client": None,
    }
    assert any(loss.what.startswith("model span inside another") for loss in found.lost)


def test_spans_of_no_model_are_refused() -> None:
    """A trace of a web service is no log of agents."""
    span = {"traceId": "t", "spanId": "s", "name": "GET /", "attributes": []}
    with pytest.raises(NotImportable, match="1 spans, none of a model"):
        convert(Source(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode(), "x"))
    with pytest.raises(NotImportable, match="no OTLP export request"):
        convert(Source(b"\n\x12\xff\xff\xff\xffnonsense", "x"), "otlp")


def test_each_answer_of_a_call_has_its_own_end() -> None:
    """`gen_ai.response.finish_reasons` has one for each: what a limit cut off is known by it."""

    def text(value: Any) -> dict[str, Any]:
        return {"stringValue": value if isinstance(value, str) else json.dumps(value)}

    def said(role: str, words: str) -> dict[str, Any]:
        return {"role": role, "parts": [{"type": "text", "content": words}]}

    reasons = {"arrayValue": {"values": [text("stop"), text("length")]}}
    attributes = {
        "gen_ai.operation.name": text("chat"),
        "gen_ai.request.model": text("m"),
        "gen_ai.response.finish_reasons": reasons,
        "gen_ai.input.messages": text([said("user", "q")]),
        "gen_ai.output.messages": text([said("assistant", "whole"), said("assistant", "cut")]),
    }
    listed = [{"key": key, "value": value} for key, value in attributes.items()]
    times = {"startTimeUnixNano": "1000", "endTimeUnixNano": "2000"}
    span = {"traceId": "1" * 32, "spanId": "1" * 16, "name": "chat m", **times, "attributes": listed}
    found = imported({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    rows = list(samples(Chain.of(found.log).tree, min_weight_tokens=0))
    assert [(row.messages[-1]["content"], row.trained) for row in rows] == [("whole", 1), ("cut", 0)]
