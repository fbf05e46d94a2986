"""The logs whose command-line output is kept as golden text. Fixed times, no clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from tests.golden.assistantlog import assistant
from tests.golden.script import Event, Script

__all__ = [
    "Event",
    "Script",
    "assistant",
    "conversation",
    "long_prompts",
    "security_review",
    "unknown_only",
    "versions",
    "written",
]


def security_review() -> list[Event]:
    """The protocol's own example: 25 events, 45.2 s, 3 agents, 2,340 tokens for $0.047, 5 facts at 0.87."""
    log = Script()
    analyzer, reviewer, fixer = "code-analyzer", "security-reviewer", "fix-implementer"
    log.add(0, analyzer, "step_start", intent="analyze", input_summary="UserController.py - 200 lines")
    log.add(
        5,
        analyzer,
        "fact_added",
        id="F1",
        text="SQL query constructed from user input at line 45",
        confidence=0.85,
        source="static-analysis",
    )
    log.add(
        6,
        analyzer,
        "tool_call",
        tool="grep",
        input={"pattern": "execute.*user", "file": "UserController.py"},
        output={"matches": 3, "lines": [45, 67, 89]},
        duration_ms=50,
    )
    log.add(
        15,
        analyzer,
        "step_end",
        outcome="success",
        output_summary="Found 1 potential SQL injection",
        duration_ms=15000,
        tokens={"input": 100, "output": 160},
        model="gpt-4",
    )
    log.add(15, "system", "checkpoint", state_hash="abc123", facts_snapshot={"F1": {"confidence": 0.85}})
    log.add(15, reviewer, "step_start", intent="assess", input_summary="Review F1 for exploitability")
    log.add(
        20,
        reviewer,
        "fact_modified",
        id="F1",
        text="CONFIRMED: SQL injection",
        confidence=0.95,
        reason="verified",
    )
    log.add(30, reviewer, "fact_added", id="F2", text="The endpoint needs no login", confidence=0.90)
    log.add(
        37.5,
        reviewer,
        "step_end",
        outcome="success",
        duration_ms=22500,
        tokens={"input": 900, "output": 400},
        model="gpt-4-turbo",
    )
    log.add(
        37.5, analyzer, "tool_call", tool="read_file", input={"path": "db.py"}, output="...", duration_ms=4
    )
    log.add(37.5, fixer, "step_start", intent="fix", input_summary="Patch F1")
    for n in range(8):
        log.add(
            38 + n * 0.2,
            fixer,
            "tool_call",
            tool="edit",
            input={"line": 45 + n},
            output="ok",
            duration_ms=100,
        )
    log.add(40, fixer, "fact_added", id="F3", text="Query now uses parameters", confidence=0.85)
    log.add(41, fixer, "fact_added", id="F4", text="Tests cover the query", confidence=0.80)
    log.add(42, fixer, "fact_added", id="F5", text="No other caller builds SQL", confidence=0.85)
    log.add(43, fixer, "tool_call", tool="run_tests", input={}, output="12 passed", duration_ms=900)
    log.add(44, fixer, "checkpoint", state_hash="def456", facts_snapshot={})
    log.add(
        45.2,
        fixer,
        "step_end",
        outcome="success",
        duration_ms=7700,
        tokens={"input": 500, "output": 280},
        model="gpt-4-turbo",
    )
    return log.events


def versions() -> tuple[list[Event], list[Event]]:
    """Two runs that differ in the confidence of one fact, at seq 8."""

    def run(confidence: float) -> list[Event]:
        log = Script()
        log.add(0, "code-analyzer", "step_start", intent="analyze")
        for n in range(2):
            log.add(
                1 + n, "code-analyzer", "fact_added", id=f"F{n + 1}", text=f"finding {n + 1}", confidence=0.9
            )
        log.add(3, "code-analyzer", "tool_call", tool="grep", input={"n": 1}, output=3, duration_ms=50)
        log.add(4, "code-analyzer", "step_end", outcome="success", duration_ms=4000)
        log.add(5, "security-reviewer", "step_start", intent="assess")
        log.add(
            6, "security-reviewer", "tool_call", tool="search", input={"q": "cve"}, output=[], duration_ms=80
        )
        log.add(7, "security-reviewer", "fact_added", id="F3", text="exploitable", confidence=confidence)
        log.add(8, "security-reviewer", "step_end", outcome="success", duration_ms=3000)
        return log.events

    return run(0.70), run(0.85)


def unknown_only() -> list[Event]:
    """Nothing in it is of a type lctl knows."""
    log = Script()
    log.add(0, "probe", "ping", n=1)
    log.add(1, "probe", "pong", n=2)
    return log.events


def long_prompts(sizes: list[int], model: str = "claude-sonnet-4-5") -> list[Event]:
    """Calls that read so many tokens each, of a model that is dearer for long prompts (Claude Sonnet 4.5:
    twice as much beyond 200,000)."""
    log = Script()
    for n, size in enumerate(sizes):
        step = log.add(n, "main", "step_start", kind="llm", model=model, provider="anthropic")
        log.add(n + 0.5, "main", "step_end", step, outcome="success", tokens={"input": size, "output": 0})
    return log.events


def written(
    path: Path, events: list[Event], chain: str = "security-review-001", *, closed: bool = True
) -> Path:
    """The events as a journal: closed with state, summary and hash, or still open."""
    head = orjson.dumps({"lctl": "4.0", "chain": {"id": chain}})[:-1] + b',"events":['
    body = b",\n".join(orjson.dumps(event) for event in events)
    raw = head + (b"\n" + body if events else b"")
    if not closed:
        path.write_bytes(raw)
        return path
    from lctl.codec import open_log, write_log
    from lctl.state.summary import tail_of

    log = open_log(raw)
    write_log(log, path, tail=tail_of(log, log.chain))
    return path


def conversation() -> list[Event]:
    """A tree with everything: versions, an edit, a sub-agent, an aborted and an unfinished stream, a rating,
    a message whose parent is missing, another conversation."""
    log = Script()

    def say(
        at: float, id: str, parent: str | None, role: str, content: Any, agent: str = "helper", **more: Any
    ) -> None:
        log.add(at, agent, "message", message_id=id, parent_id=parent, role=role, content=content, **more)

    def answer(at: float, id: str, parent: str, content: Any, tokens: tuple[int, int], **more: Any) -> None:
        step = log.add(
            at, "helper", "step_start", kind="llm", model="gpt-4o", provider="openai", prompt=parent
        )
        say(at + 1, id, parent, "assistant", content, sampled=True, **more)
        used = {"input": tokens[0], "output": tokens[1]}
        log.add(
            at + 1, "helper", "step_end", step, outcome="success", message=id, model="gpt-4o", tokens=used
        )

    say(0, "s1", None, "system", "Be brief.")
    say(0, "u1", "s1", "user", "What is 2+2?")
    answer(1, "a1", "u1", "4", (20, 1))
    answer(3, "a2", "u1", "Four.", (20, 2), fork_of="a1")
    log.add(4, "judge", "fact_added", id="R1", text="thumbs up", about="a2", value=1.0)
    say(5, "u2", "a2", "user", "Look it up.")
    call = {"id": "c1", "type": "function", "function": {"name": "ask_agent", "arguments": '{"q":"2+2"}'}}
    answer(6, "a3", "u2", None, (30, 8), tool_calls=[call])
    nested = {"message_id": "a3", "tool_call_id": "c1"}
    say(7, "n1", None, "user", "2+2", "researcher", conversation_id="research", nested_in=nested)
    say(8, "n2", "n1", "assistant", "It is 4.", "researcher", conversation_id="research")
    say(9, "t1", "a3", "tool", "4", tool_call_id="c1")
    log.add(10, "helper", "stream_start", message_id="a4", parent_id="t1", role="assistant")
    log.add(10, "helper", "stream_chunk", message_id="a4", index=0, content="It is fo")
    log.add(11, "helper", "stream_end", message_id="a4", status="aborted")
    say(12, "u1b", "s1", "user", "What is 3+3?", fork_of="u1")
    answer(13, "a5", "u1b", "6", (20, 1))
    say(15, "x1", "gone", "user", "Where was I?")
    say(16, "v1", None, "user", "Something else.", conversation_id="other")
    log.add(
        17,
        "helper",
        "stream_start",
        message_id="v2",
        parent_id="v1",
        role="assistant",
        conversation_id="other",
    )
    log.add(17, "helper", "stream_chunk", message_id="v2", index=0, content="Well")
    log.add(18, "helper", "view_select", view="main", message_id="t1")
    return log.events
