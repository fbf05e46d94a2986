"""Logs that the debugger is asked about."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lctl.chain import Chain
from lctl.testing import FixedClock

Event = dict[str, Any]


class Writing:
    """Events in order, numbered and timed."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._clock = FixedClock(tick_ms=10)

    def add(self, type: str, agent: str = "planner", step: int | None = None, /, **data: Any) -> int:
        event: Event = {
            "seq": len(self.events) + 1,
            "type": type,
            "timestamp": self._clock.now(),
            "agent": agent,
            "data": data,
        }
        if step is not None:
            event["step"] = step
        self.events.append(event)
        return len(self.events)


def review() -> list[Event]:
    """Two agents, two model calls of which the second reads more, a tool, facts, a hand-off, an error."""
    log = Writing()
    add = log.add
    turn = add("step_start", kind="agent", intent="plan")  # 1
    add("message", "planner", turn, message_id="m1", role="system", content="Be brief. " * 30)
    add("message", "planner", turn, message_id="m2", parent_id="m1", role="user", content="Review app.py")
    offered = [
        {"type": "function", "function": {"name": "grep", "description": "Find text", "parameters": {}}}
    ]
    call = add(  # 4
        "step_start",
        "planner",
        turn,
        kind="llm",
        intent="chat.completions",
        operation="chat.completions",
        model="gpt-4.1-mini",
        provider="openai",
        prompt="m2",
        params={"temperature": 0},
        tools="t1",
        tool_definitions=offered,
    )
    add(
        "exchange",
        "planner",
        call,
        method="POST",
        url="https://api.openai.com/v1/chat/completions",
        status=200,
        request={"hash": "sha256:00", "size": 10},
        body='{"id": "x"}',
        duration_ms=20.0,
    )
    asked = [
        {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"pattern": "eval"}'}}
    ]
    add(
        "message",
        "planner",
        call,
        message_id="m6",
        parent_id="m2",
        role="assistant",
        content="",
        tool_calls=asked,
        sampled=True,
    )
    tokens = {"input": 100, "output": 20, "cache_read": 0}
    add(
        "step_end",
        "planner",
        call,
        outcome="success",
        message="m6",
        tokens=tokens,
        duration_ms=20.0,
        finish_reason="tool_calls",
    )
    add(
        "tool_call",
        "planner",
        turn,
        tool="grep",
        input={"pattern": "eval"},
        output="app.py:3",
        duration_ms=5.0,
        call_id="c1",
    )
    add(
        "message",
        "planner",
        turn,
        message_id="m9",
        parent_id="m6",
        role="tool",
        tool_call_id="c1",
        content="app.py:3",
    )
    second = add(  # 10
        "step_start",
        "planner",
        turn,
        kind="llm",
        intent="chat.completions",
        operation="chat.completions",
        model="gpt-4.1-mini",
        provider="openai",
        prompt="m9",
        params={"temperature": 0.5},
        tools="t1",
    )
    add(
        "message",
        "planner",
        second,
        message_id="m11",
        parent_id="m9",
        role="assistant",
        content="eval is unsafe",
        sampled=True,
    )
    add(
        "step_end",
        "planner",
        second,
        outcome="success",
        message="m11",
        duration_ms=30.0,
        tokens={"input": 140, "output": 9, "cache_read": 100},
        finish_reason="stop",
    )
    add("fact_added", "planner", turn, id="F1", text="eval is unsafe", confidence=0.85, source="grep")  # 13
    add("fact_added", "planner", turn, id="F0", text="nobody believes this", confidence=0.0)
    add("step_end", "planner", turn, outcome="success", duration_ms=150.0)
    add("handoff", **{"from": "planner", "to": "fixer"})  # 16
    other = add("step_start", "fixer", kind="agent", intent="fix")
    add("error", "fixer", other, category="execution_error", type="timeout", message="patch did not apply")
    add("fact_modified", "fixer", other, id="F1", confidence=0.95, reason="confirmed")  # 19
    add("checkpoint", "system", state_hash="abc")
    add("step_end", "fixer", other, outcome="success", duration_ms=40.0)
    return log.events


def save(path: Path, events: Iterable[Event], id: str = "run", **chain: Any) -> Path:
    """A closed log, as a session leaves it."""
    log = Chain.from_dict({"lctl": "4.0", "chain": {"id": id, **chain}, "events": list(events)})
    log.save(path)
    return path


def open_log(path: Path, events: Iterable[Event], id: str = "run", **chain: Any) -> Path:
    """A log that is being written: no end."""
    head = json.dumps({"lctl": "4.0", "chain": {"id": id, **chain}, "events": []}, separators=(",", ":"))
    lines = [json.dumps(event, separators=(",", ":")) for event in events]
    path.write_text(head.removesuffix("]}") + "\n" + ",\n".join(lines))
    return path


def append(path: Path, events: Iterable[Event]) -> None:
    """What its program writes next."""
    with path.open("a") as file:
        for event in events:
            file.write(",\n" + json.dumps(event, separators=(",", ":")))
