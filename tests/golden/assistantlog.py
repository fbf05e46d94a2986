"""The log of an assistant, as auto-instrumentation writes it."""

from __future__ import annotations

from tests.golden.script import Event, Script


def assistant() -> list[Event]:
    """What auto-instrumentation writes: a model call with a tool, a retried call, an error, an open step."""
    log = Script()
    top = log.add(0, "assistant", "step_start", kind="agent", intent="answer")
    log.add(
        0.1, "assistant", "message", top, message_id="m2", parent_id=None, role="system", content="Be brief."
    )
    log.add(
        0.1,
        "assistant",
        "message",
        top,
        message_id="m3",
        parent_id="m2",
        role="user",
        content="Weather in Oslo?",
    )
    first = log.add(
        0.1,
        "assistant",
        "step_start",
        top,
        kind="llm",
        intent="chat",
        model="gpt-4o-mini",
        provider="openai",
        operation="chat",
        prompt="m3",
        params={"temperature": 0},
    )
    log.add(
        0.9,
        "assistant",
        "exchange",
        first,
        attempt=1,
        method="POST",
        url="https://api.openai.com/v1/chat/completions",
        http="httpx",
        request={"hash": "sha256:aa", "size": 120},
        status=429,
        headers={},
        body="slow down",
        complete=True,
        duration_ms=300,
    )
    log.add(
        0.9,
        "assistant",
        "error",
        first,
        category="execution_error",
        type="rate_limited",
        message="429 Too Many Requests",
        recoverable=True,
        suggested_action="retry_after_delay",
        context={"status": 429, "attempt": 1},
    )
    log.add(
        1.9,
        "assistant",
        "exchange",
        first,
        attempt=2,
        method="POST",
        url="https://api.openai.com/v1/chat/completions",
        http="httpx",
        request={"hash": "sha256:aa", "size": 120},
        status=200,
        headers={},
        body="{}",
        complete=True,
        duration_ms=800,
    )
    log.add(
        1.9,
        "assistant",
        "message",
        first,
        message_id="m8",
        parent_id="m3",
        role="assistant",
        content=None,
        tool_calls=[
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "weather", "arguments": '{"city":"Oslo"}'},
            }
        ],
        sampled=True,
        status="complete",
    )
    log.add(
        1.9,
        "assistant",
        "step_end",
        first,
        outcome="success",
        message="m8",
        model="gpt-4o-mini-2024-07-18",
        finish_reason="tool_calls",
        tokens={"input": 1200, "output": 30, "cache_read": 1024},
        duration_ms=1800,
    )
    log.add(
        2.1,
        "assistant",
        "message",
        top,
        message_id="m10",
        parent_id="m8",
        role="tool",
        tool_call_id="call_1",
        content='{"sky":"\u001b[31mclear\u001b[0m","celsius":-3}',
    )
    log.add(
        2.1,
        "assistant",
        "tool_call",
        top,
        tool="weather",
        input={"city": "Oslo"},
        output={"sky": "clear", "celsius": -3},
        duration_ms=180,
        call_id="call_1",
        derived=True,
    )
    second = log.add(
        2.1,
        "assistant",
        "step_start",
        top,
        kind="llm",
        intent="chat",
        model="gpt-4o-mini",
        provider="openai",
        operation="chat",
        prompt="m10",
        stream=True,
    )
    log.add(
        2.9,
        "assistant",
        "message",
        second,
        message_id="m13",
        parent_id="m10",
        role="assistant",
        content="Clear and −3 °C in Oslo. 晴れ",
        sampled=True,
        status="complete",
    )
    log.add(
        2.9,
        "assistant",
        "step_end",
        second,
        outcome="success",
        message="m13",
        model="gpt-4o-mini-2024-07-18",
        finish_reason="stop",
        tokens={"input": 1260, "output": 12},
        duration_ms=800,
        first_chunk_ms=210,
    )
    log.add(
        3,
        "assistant",
        "fact_added",
        top,
        id="oslo",
        text="It is clear in Oslo",
        confidence=0.0,
        source="weather",
    )
    log.add(3.2, "assistant", "vendor_note", top, color="blue", n=3)
    return log.events
