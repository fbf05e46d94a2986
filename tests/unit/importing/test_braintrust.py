"""Logs of Braintrust, as its API gives them and its SDK (0.48.1) writes them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.importing.peers import ends, imported, said, steps, tools
from tests.unit.importing.sources import lines, lost

ASK = {"role": "user", "content": "Rome?"}
SYSTEM = {"role": "system", "content": "Be brief."}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "sun"}


def row(
    n: int, parent: int | None, type: str, name: str, read: Any, gave: Any, **more: Any
) -> dict[str, Any]:
    measured = {"start": 1795889236.0 + n, "end": 1795889236.5 + n, **more.pop("metrics", {})}
    return {
        "id": f"row{n}", "span_id": f"s{n}", "root_span_id": "root",
        "span_parents": None if parent is None else [f"s{parent}"],
        "span_attributes": {"type": type, "name": name, "exec_counter": n},
        "metrics": measured, "input": read, "output": gave, **more,
    }  # fmt: skip


def choice(reason: str, **message: Any) -> list[dict[str, Any]]:
    empty = {"content": None, "refusal": None, "tool_calls": None}
    return [{"finish_reason": reason, "index": 0, "message": {**empty, "role": "assistant", **message}}]


def loop() -> list[Any]:
    about = {"provider": "openai", "model": "gpt-4o-mini", "temperature": 0.2, "tools": [TOOL]}
    used = {"prompt_tokens": 9, "completion_tokens": 3, "prompt_cached_tokens": 4,
            "completion_reasoning_tokens": 1}  # fmt: skip
    asked = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    return [
        row(0, None, "function", "agent", {}, "Sunny."),
        row(1, 0, "llm", "Chat Completion", [SYSTEM, ASK], choice("tool_calls", tool_calls=[CALL]),
            metadata=about, metrics=used),
        row(2, 0, "tool", "weather", {"city": "Rome"}, "sun"),
        row(3, 0, "llm", "Chat Completion", [SYSTEM, ASK, asked, RESULT], choice("stop", content="Sunny."),
            metadata=about, metrics=used),
    ]  # fmt: skip


@pytest.mark.parametrize("written", [loop(), {"events": loop(), "cursor": None}, lines(loop())])
def test_a_loop_of_an_agent(written: Any) -> None:
    found = imported(written)
    assert (found.form, lost(found)) == ("braintrust", {})
    assert [one[:2] for one in steps(found)] == [
        ("chain", "agent"), ("llm", "Chat Completion"), ("llm", "Chat Completion"),
    ]  # fmt: skip
    assert [role for role, _ in said(found)] == ["system", "user", "assistant", "tool", "assistant"]
    assert [(one["tool"], one["output"], one["call_id"]) for one in tools(found)] == [
        ("weather", "sun", "c1")
    ]
    start = next(e.data for e in found.log.events() if e.data.get("intent") == "Chat Completion")
    assert (start["model"], start["provider"], start["params"]) == (
        "gpt-4o-mini", "openai", {"temperature": 0.2},
    )  # fmt: skip
    assert start["tool_definitions"] == [TOOL]
    end = ends(found)["Chat Completion"]
    assert end["finish_reason"] == "stop"
    assert end["tokens"] == {"input": 9, "output": 3, "cache_read": 4, "reasoning": 1}


def test_the_responses_api_and_a_failure() -> None:
    """Instructions are in the metadata; a call in the answer is also written as a tool's span, with no
    output: it is no run."""
    item = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Rome"}'}
    about = {"provider": "openai", "model": "gpt-5-mini", "instructions": "Be brief.", "status": "completed"}
    found = imported(
        [
            row(1, None, "llm", "openai.responses.create", [ASK], [item], metadata=about),
            row(2, 1, "tool", "weather", {"city": "Rome"}, None, metadata={"tool_type": "function_call"}),
            row(3, None, "llm", "failed", [ASK], None, metadata=about, error="no such model"),
        ]
    )
    assert [role for role, _ in said(found)] == ["system", "user", "assistant"]
    assert tools(found) == []
    assert ends(found)["openai.responses.create"]["finish_reason"] == "completed"
    assert [e.data["message"] for e in found.log.events() if e.type == "error"] == ["no such model"]


def test_instructions_of_anthropic_come_first() -> None:
    about = {"provider": "anthropic", "model": "claude-sonnet-4-5"}
    gave = {"role": "assistant", "content": [{"type": "text", "text": "Sunny."}]}
    found = imported([row(1, None, "llm", "anthropic.messages.create", [ASK, SYSTEM], gave, metadata=about)])
    assert [role for role, _ in said(found)] == ["system", "user", "assistant"]
