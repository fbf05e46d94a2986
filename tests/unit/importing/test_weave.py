"""Calls of W&B Weave, as its API and SDK give them."""

from __future__ import annotations

from typing import Any

from tests.unit.importing.peers import imported, said, steps, tools
from tests.unit.importing.sources import lines

ASK = {"role": "user", "content": "Rome?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "sun"}


def call(n: int, parent: int | None, op: str, read: Any, gave: Any, **more: Any) -> dict[str, Any]:
    minute = 1 if parent is None else 0
    return {
        "id": f"s{n}", "project_id": "team/p", "trace_id": "t", "op_name": f"weave:///team/p/op/{op}:abc",
        "parent_id": None if parent is None else f"s{parent}", "attributes": {}, "summary": {},
        "started_at": f"2026-01-01T00:00:{n:02}Z", "ended_at": f"2026-01-01T00:{minute:02}:{n:02}.5Z",
        "inputs": read, "output": gave, **more,
    }  # fmt: skip


def completion(**message: Any) -> dict[str, Any]:
    return {
        "id": "x", "object": "chat.completion", "model": "gpt-4o",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }  # fmt: skip


def test_calls_of_weave() -> None:
    asked = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    op = "openai.chat.completions.create"
    rows = [
        call(1, None, "agent", {"q": "Rome?"}, "sunny"),
        call(2, 1, op, {"model": "gpt-4o", "messages": [ASK]}, completion(content=None, tool_calls=[CALL])),
        call(3, 1, "weather", {"city": "Rome"}, "sun", attributes={"weave": {"kind": "tool"}}),
        call(4, 1, op, {"model": "gpt-4o", "messages": [ASK, asked, RESULT]}, completion(content="sunny")),
        call(5, 1, op, {"model": "gpt-4o", "messages": [ASK]}, None, exception="RateLimitError: slow down"),
    ]
    for found in (imported(lines(rows)), imported({"calls": rows})):
        assert found.form == "weave"
        assert [kind for kind, *_ in steps(found)] == ["chain", "llm", "llm", "llm"]
        assert [words for _, words in said(found)][-1] == "sunny"
        assert [one["output"] for one in tools(found)] == ["sun"]
        (failed,) = [one.data for one in found.log.events() if one.type == "error"]
        assert "slow down" in failed["message"]
