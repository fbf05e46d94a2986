"""Spans of libraries that trace themselves: steps, and what nobody else has told; nothing twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs lctl[otel]")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Status, StatusCode, Tracer

import lctl
from lctl.instrument import ensure_installed, uninstrument
from lctl.otel import LCTLSpanProcessor
from lctl.session import LCTLSession
from lctl.testing import ModelServer
from tests.clients import closing

READ = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "2+2?"}]}])
GAVE = json.dumps(
    [{"role": "assistant", "parts": [{"type": "text", "content": "4"}], "finish_reason": "stop"}]
)


@pytest.fixture
def tracer() -> Iterator[Tracer]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(LCTLSpanProcessor())
    yield provider.get_tracer("some.library")
    provider.shutdown()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LCTLSession]:
    with LCTLSession("run", tmp_path / "run.lctl.json") as session:
        yield session


def events(session: LCTLSession) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.lines()]


def told(session: LCTLSession) -> list[tuple[Any, ...]]:
    return [
        (
            event["type"],
            event["agent"],
            event.get("step"),
            event["data"].get("kind") or event["data"].get("tool"),
        )
        for event in events(session)
    ]


def test_agents_are_steps_and_unseen_calls_are_told(tracer: Tracer, session: LCTLSession) -> None:
    """An agent, its model call that no wire showed, its tool: once each, in their places."""
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner"}
    with tracer.start_as_current_span("invoke_agent planner", attributes=agent):
        asked = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "local",
            "gen_ai.provider.name": "acme",
        }
        with tracer.start_as_current_span("chat local", attributes=asked) as call:
            call.set_attributes({"gen_ai.input.messages": READ, "gen_ai.output.messages": GAVE})
            call.set_attributes({"gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 1})
        done = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "add",
            "gen_ai.tool.call.id": "c1",
        }
        with tracer.start_as_current_span("execute_tool add", attributes=done) as tool:
            tool.set_attributes({"gen_ai.tool.call.arguments": '{"a": 2}', "gen_ai.tool.call.result": "4"})
        session.add_fact("F1", "inside")
    with tracer.start_as_current_span("GET /"):
        pass
    assert told(session) == [
        ("step_start", "planner", None, "agent"),
        ("message", "planner", 1, None),
        ("step_start", "planner", 1, "llm"),
        ("message", "planner", 3, None),
        ("step_end", "planner", 3, None),
        ("tool_call", "planner", 1, "add"),
        ("fact_added", "planner", 1, None),
        ("step_end", "planner", 1, None),
    ]
    end = events(session)[4]["data"]
    assert end["tokens"] == {"input": 7, "output": 1}
    data = events(session)[5]["data"]
    assert (data["input"], data["call_id"]) == ({"a": 2}, "c1")


def test_what_the_wire_showed_is_not_told_again(tracer: Tracer, tmp_path: Path) -> None:
    """The real SDK beneath a library's spans, two layers of them: one model call, in the agent's step."""
    openai = pytest.importorskip("openai")
    ensure_installed()
    try:
        with ModelServer(seed=1) as server, LCTLSession("run", tmp_path / "run.lctl.json") as session:
            client = closing(openai.OpenAI(base_url=server.openai_url, api_key="test", max_retries=0))
            agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner"}
            chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}
            with (
                tracer.start_as_current_span("invoke_agent planner", attributes=agent),
                tracer.start_as_current_span("chat gpt-4o", attributes=chat),
                tracer.start_as_current_span("chat gpt-4o", attributes=chat) as inner,
            ):
                client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "hi"}])
                inner.set_attribute("gen_ai.input.messages", READ)
            starts = [event for event in events(session) if event["type"] == "step_start"]
            client.close()
    finally:
        uninstrument()
    assert [(one["data"]["kind"], one.get("step"), one["agent"]) for one in starts] == [
        ("agent", None, "planner"), ("llm", 1, "planner"),
    ]  # fmt: skip
    assert starts[1]["data"]["operation"] == "chat.completions"


def test_nested_spans_of_one_unseen_call_are_one_call(tracer: Tracer, session: LCTLSession) -> None:
    """A framework's span around its client's: the inner one is told, the outer is the same call."""
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    with (
        tracer.start_as_current_span("chat m", attributes=chat),
        tracer.start_as_current_span("chat m", attributes=chat),
    ):
        pass
    assert [one[0] for one in told(session)] == ["step_start", "step_end"]


def test_a_tool_that_reported_itself_is_not_told_again(tracer: Tracer, session: LCTLSession) -> None:
    """By its call id, or as the same tool with the same input while its span was open."""

    @lctl.tool
    def add(a: int) -> int:
        return a + 2

    span = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"}
    with tracer.start_as_current_span("execute_tool add", attributes=span) as tool:
        add(2)
        tool.set_attribute("gen_ai.tool.call.arguments", '{"a": 2}')
    with tracer.start_as_current_span("execute_tool add", attributes=span):
        add(3)  # its arguments are not traced
    with tracer.start_as_current_span("execute_tool add", attributes=span) as tool:
        tool.set_attribute("gen_ai.tool.call.arguments", '{"a": 2}')  # another run, by nobody else reported
    assert [one[0] for one in told(session)] == ["tool_call"] * 3


def test_the_same_call_by_two_at_once_is_two(tracer: Tracer, session: LCTLSession) -> None:
    """Neither is the other's; but spans of two layers around one run tell of that one."""
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"}
    asked = {**tool, "gen_ai.tool.call.arguments": '{"a": 2}'}
    first, second = (tracer.start_span("execute_tool add", attributes=asked) for _ in range(2))
    first.end()
    second.end()
    opened = tracer.start_as_current_span
    with opened("execute_tool add", attributes=asked), opened("tools/call add", attributes=tool):
        pass
    assert [one[0] for one in told(session)] == ["tool_call"] * 3


def test_an_agent_is_told_once_where_its_integration_tells_of_it(
    tracer: Tracer, session: LCTLSession
) -> None:
    """What happens in the span is in that step; an agent that is called in it has its own."""
    span = {"gen_ai.operation.name": "invoke_agent"}

    def invoked(name: str) -> Any:
        return tracer.start_as_current_span(f"invoke_agent {name}", attributes=span)

    with session.step("planner", "run", kind="agent"), invoked("planner"):
        session.add_fact("F1", "x")
        with invoked("writer"), invoked("writer"):
            session.add_fact("F2", "y")
    steps = {event["seq"]: event["agent"] for event in events(session) if event["type"] == "step_start"}
    facts = [event for event in events(session) if event["type"] == "fact_added"]
    assert list(steps.values()) == ["planner", "writer", "writer"]
    assert [fact["step"] for fact in facts] == [min(steps), max(steps)]


def test_failures_stay_the_librarys_and_are_told(tracer: Tracer, session: LCTLSession) -> None:
    """A step and a tool that raised."""
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner"}
    with pytest.raises(KeyError), tracer.start_as_current_span("invoke_agent planner", attributes=agent):
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"}
        with tracer.start_as_current_span("execute_tool add", attributes=tool) as span:
            span.set_status(Status(StatusCode.ERROR, "no such number"))
        raise KeyError("lost")
    found = events(session)
    assert [event["type"] for event in found] == ["step_start", "tool_call", "error", "step_end"]
    assert found[1]["data"]["error"] == "no such number"
    assert (found[2]["data"]["type"], found[3]["data"]["outcome"]) == ("KeyError", "error")


def test_concurrent_agents_keep_their_own_steps(tracer: Tracer, session: LCTLSession) -> None:
    """Two agents at once on one loop: what each records is in its step."""

    async def agent(name: str, before: float) -> None:
        said = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        with tracer.start_as_current_span(f"invoke_agent {name}", attributes=said):
            for _ in range(3):
                await asyncio.sleep(before)
                session.add_fact(f"F{name}", name)

    async def main() -> None:
        await asyncio.gather(agent("a", 0.001), agent("b", 0.002))

    asyncio.run(main())
    found = events(session)
    steps = {event["seq"]: event["agent"] for event in found if event["type"] == "step_start"}
    facts = [event for event in found if event["type"] == "fact_added"]
    assert sorted(steps.values()) == ["a", "b"] and len(facts) == 6
    assert all(steps[event["step"]] == event["data"]["text"] == event["agent"] for event in facts)


def test_without_a_session_spans_pass(tracer: Tracer) -> None:
    """Nothing is recorded and nothing kept."""
    with tracer.start_as_current_span("invoke_agent x", attributes={"gen_ai.operation.name": "invoke_agent"}):
        assert lctl.get_session() is None
