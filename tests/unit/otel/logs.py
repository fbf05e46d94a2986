"""Logs to make spans of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lctl.chain import Chain
from lctl.codec import Log
from lctl.session import LCTLSession
from lctl.testing import FixedClock, SequentialIds

USER = {"role": "user", "content": "2+2?"}
ASKED = {
    "role": "assistant",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":2,"b":2}'}}
    ],
}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "4"}
ANSWER = {"role": "assistant", "content": "It is 4."}


def record(path: Path, *, chain_id: str = "run-1") -> Log:
    """An agent that calls a model, a tool and the model again; a fact, a hand-off, and a failing step."""
    with LCTLSession(chain_id, path, clock=FixedClock(), ids=SequentialIds()) as session:
        play(session)
    from lctl.codec import open_log

    return open_log(path)


def play(session: LCTLSession) -> None:
    """What `record` records."""
    with session.step("planner", "add numbers"):
        tokens = {"input": 10, "output": 5, "cache_read": 4, "cache_write": 2, "reasoning": 1}
        params = {"temperature": 0.5, "max_tokens": 100}
        session.llm_trace([USER], ASKED, "gpt-4o", tokens, 20.0, provider="openai", params=params)
        session.tool_call("add", {"a": 2, "b": 2}, 4, 1.5, call_id="c1")
        session.llm_trace(
            [USER, ASKED, TOLD], ANSWER, "gpt-4o", {"input": 30, "output": 6}, 15.0, provider="openai"
        )
        session.add_fact("F1", "2+2 is 4", 0.9, "arithmetic")
        session.handoff("checker", facts=["F1"])
    try:
        with session.step("checker", "check"):
            session.tool_call("look_up", {"q": "four"}, error="no such page", duration_ms=2.0)
            raise LookupError("nothing to check with")
    except LookupError:
        pass


def chain(*events: dict[str, Any], **header: Any) -> Log:
    """A log of these events, numbered, a second apart."""
    made = [
        {"seq": n, "timestamp": f"2026-01-01T00:00:{n:02}.000000Z", "agent": "a", "data": {}, **event}
        for n, event in enumerate(events, 1)
    ]
    return Chain.from_dict({"lctl": "4.0", "chain": {"id": "run-1", **header}, "events": made}).log
