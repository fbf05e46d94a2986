"""The typed view of an event's data, and what is said of data that does not fit."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.events import KNOWN_TYPES, Event
from lctl.payloads import PAYLOADS, check, payload
from lctl.payloads.coordination import Handoff
from lctl.payloads.core import FactAdded, ModelRef, StepEnd, StepStart, Tokens
from lctl.payloads.streams import StreamChunk
from tests.unit.codec.samples import SPEC_EVENTS


def made(type: str, data: Any, **envelope: Any) -> Event:
    return Event.from_dict(
        {"seq": 1, "type": type, "timestamp": "2026-01-01T00:00:00Z", "agent": "a", **envelope, "data": data}
    )


def test_every_type_has_a_frozen_payload() -> None:
    """The table and the protocol's list of types are one."""
    assert set(PAYLOADS) == KNOWN_TYPES
    for kind in PAYLOADS.values():
        assert kind.__struct_config__.frozen
        assert kind.__doc__
        assert issubclass(kind, msgspec.Struct)


def test_the_protocols_own_events_fit() -> None:
    """Its examples of every part: nothing to say, and the typed view has what they say."""
    for raw in SPEC_EVENTS:
        assert check(Event.from_dict(raw)) == []
    end = payload(Event.from_dict(SPEC_EVENTS[3]))
    assert end == StepEnd(
        outcome="success",
        output_summary="Found 1 potential SQL injection",
        duration_ms=30000.0,
        tokens=Tokens(input=500, output=200),
    )


SPEC_FRAGMENTS: list[tuple[str, dict[str, Any]]] = [
    (
        "fact_modified",
        {
            "id": "F1",
            "text": "CONFIRMED: SQL injection vulnerability",
            "confidence": 0.95,
            "reason": "verified_by_consensus",
            "consensus": {"assessors": ["code-analyzer", "security-reviewer"], "agreement": 1.0},
        },
    ),
    (
        "contract_validation",
        {"contract": "security-reviewer", "direction": "output", "status": "passed", "warnings": []},
    ),
    (
        "step_start",
        {
            "agent_profile": {
                "type": "reviewer",
                "capabilities": ["assessment", "approval"],
                "model": "claude-3-opus",
                "reliability_score": 0.92,
            }
        },
    ),
    (
        "error",
        {
            "category": "execution_error",
            "type": "timeout",
            "message": "Code execution exceeded 30s limit",
            "recoverable": True,
            "suggested_action": "retry_with_timeout_increase",
            "context": {"timeout_configured": 30000, "elapsed_ms": 30500},
        },
    ),
    ("stream_start", {"expected_chunks": "unknown"}),
    ("stream_chunk", {"index": 0, "content": "Based on my analysis...", "tokens": 5}),
    ("stream_end", {"total_chunks": 47, "total_tokens": 203, "duration_ms": 2340}),
    ("step_start", {"model": {"id": "gpt-4", "role": "planning"}}),
    (
        "model_routing",
        {
            "decision": "route_to_opus",
            "reason": "code_generation_task",
            "alternatives_considered": ["gpt-4", "claude-3-sonnet"],
            "confidence": 0.85,
        },
    ),
]


@pytest.mark.parametrize(("type", "data"), SPEC_FRAGMENTS)
def test_the_protocols_fragments_fit(type: str, data: dict[str, Any]) -> None:
    """Parts 3 to 10, with no key added to them and none lost."""
    event = made(type, data)
    assert check(event) == []
    typed = payload(event)
    assert typed is not None
    given_back = {k: v for k, v in msgspec.to_builtins(typed).items() if v is not None}
    for key, value in data.items():
        assert key in given_back
        if not isinstance(value, dict):
            assert given_back[key] == value


WRITERS: list[tuple[str, dict[str, Any]]] = [
    ("message", {"message_id": "m1", "parent_id": None, "role": "system", "content": "Be brief."}),
    (
        "message",
        {
            "message_id": "m9",
            "parent_id": "m8",
            "role": "assistant",
            "content": [{"type": "text", "text": "hi"}],
            "tool_calls": [{"id": "c1"}],
            "sampled": True,
            "status": "complete",
            "logprobs": None,
        },
    ),
    (
        "tool_call",
        {"tool": "grep", "input": "x", "output": [1], "duration_ms": 1.5, "call_id": "c1", "derived": True},
    ),
    (
        "step_start",
        {
            "kind": "llm",
            "intent": "chat.completions",
            "model": "gpt-4o",
            "provider": "openai",
            "operation": "chat.completions",
            "prompt": "m9",
            "tools": "sha256:ab",
            "tool_definitions": [{"type": "function"}],
            "params": {"temperature": 0},
            "stream": True,
        },
    ),
    (
        "exchange",
        {
            "attempt": 1,
            "method": "POST",
            "url": "https://api.openai.com/v1/chat/completions",
            "http": "httpx",
            "request": {"hash": "sha256:ab", "size": 90, "headers": {}},
            "status": 200,
            "headers": {"x-request-id": "r"},
            "chunks": [[1.5, "data: {}"]],
            "complete": True,
            "duration_ms": 3,
        },
    ),
    (
        "exchange",
        {"attempt": 2, "body": {"blob": "sha256:cd"}, "error": {"type": "E", "module": "m", "message": "x"}},
    ),
    (
        "blob",
        {"hash": "sha256:cd", "encoding": "base64", "media_type": "image/png", "size": 3, "content": "AAA="},
    ),
    (
        "step_end",
        {
            "outcome": "success",
            "message": "m10",
            "messages": ["m10", "m11"],
            "model": "gpt-4o-2024",
            "response_id": "r1",
            "finish_reason": "stop",
            "tokens": {
                "input": 9,
                "output": 2,
                "cache_read": 1,
                "cache_write": 0,
                "reasoning": 1,
                "total": 11,
            },
            "duration_ms": 10.25,
            "first_chunk_ms": 4,
            "embedding": {"count": 1, "dimensions": 3},
        },
    ),
    ("view_select", {"view": "main", "message_id": "m1"}),
    ("message_alias", {"alias": "out-1", "message_id": "m1"}),
    ("session_start", {"session_id": "s", "trigger": {"type": "email", "id": "t"}, "model": {"id": "m"}}),
    ("session_end", {"session_id": "s", "status": "failed", "error": "x"}),
    ("fact_read", {"facts": ["F1"], "query": "SELECT *", "hops": 2}),
    (
        "fact_read",
        {"facts": [], "query": "SELECT *", "from": "a", "fact_store": "memory://x/facts", "rows": 0},
    ),
    ("assessment", {"id": "F1", "confidence": 0.9, "reason": "seen", "reliability": 0.5}),
    ("gate", {"id": "F1", "decision": "warn", "confidence": 0.7, "stated": 0.8, "hops": 1, "passed": True}),
    ("model_routing", {"decision": "x", "model": "m", "fact": "F1", "by_gate": {"proceed": "m"}}),
    ("ambient", {"source": "clock", "key": "time.time", "value": 1.5}),
    # a stream beside others, whose pieces were there when the program asked for them
    (
        "exchange",
        {
            "chunks": [[1, "a"], [2, "b"]],
            "turns": [3, -1],
            "turn": -1,
            "head_turn": 0,
            "behinds": [[0, 2]],
            "lane": "0.1",
        },
    ),
    # a body that came with its head, over aiohttp
    ("exchange", {"body": "{}", "turn": 3, "behind": 1, "with_head": True}),
]


@pytest.mark.parametrize(("type", "data"), WRITERS)
def test_what_is_recorded_fits(type: str, data: dict[str, Any]) -> None:
    """The events of a model call as they are written, unknown keys included."""
    assert check(made(type, data)) == []
    assert payload(made(type, data)) is not None


WRONG: list[tuple[str, Any, list[str]]] = [
    ("step_end", {"tokens": 350}, ["tokens: expected an object with input and output, got 350"]),
    ("step_end", {"tokens": {"input": "x"}}, ["tokens.input: expected a whole number from 0, got 'x'"]),
    ("step_end", {"tokens": {"output": -1}}, ["tokens.output: expected a whole number from 0, got -1"]),
    (
        "fact_added",
        {"id": "F1", "confidence": "high"},
        ["confidence: expected a number from 0 to 1, got 'high'"],
    ),
    ("fact_added", {"id": "F1", "confidence": 85}, ["confidence: expected a number from 0 to 1, got 85"]),
    ("fact_added", {"text": "x"}, ["id: missing"]),
    ("fact_added", {"id": 7, "text": None}, ["id: expected text, got 7"]),
    ("step_end", None, ["data: expected an object, got null"]),
    ("step_end", [1], ["data: expected an object, got a list"]),
    ("llm_trace", "text", ["data: expected an object, got 'text'"]),
    ("step_start", {"model": 4}, ["model: expected text or an object, got 4"]),
    ("step_start", {"model": {"id": 4}}, ["model.id: expected text, got 4"]),
    ("step_start", {"stream": "yes"}, ["stream: expected true or false, got 'yes'"]),
    ("step_end", {"messages": ["m1", None]}, ["messages[1]: expected text, got null"]),
    ("step_end", {"messages": "m1"}, ["messages: expected a list, got 'm1'"]),
    ("step_end", {"duration_ms": "5s"}, ["duration_ms: expected milliseconds as a number from 0, got '5s'"]),
    ("message", {"carry": ["m1"]}, ["carry: expected a list of two texts, got a list"]),
    ("handoff", {"from": 5}, ["from: expected text, got 5"]),
    ("stream_start", {"expected_chunks": 1.5}, ["expected_chunks: expected a whole number or text, got 1.5"]),
    ("message_alias", {"alias": "x"}, ["message_id: missing"]),
    (
        "step_end",
        {"outcome": 5, "tokens": 350, "duration_ms": True},
        [
            "duration_ms: expected milliseconds as a number from 0, got true",
            "outcome: expected text, got 5",
            "tokens: expected an object with input and output, got 350",
        ],
    ),
    (
        "error",
        {"context": "x" * 90},
        ["context: expected an object, got 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"],
    ),
]


@pytest.mark.parametrize(("type", "data", "problems"), WRONG)
def test_what_does_not_fit_is_named_with_its_value(type: str, data: Any, problems: list[str]) -> None:
    """Key, expectation, value; every key at fault, not only the first."""
    assert sorted(check(made(type, data))) == problems


def test_the_envelope_is_checked_too() -> None:
    """Agent, step and time of the wrong kind."""
    event = made("checkpoint", {}, agent=5, step="one", timestamp="now")
    assert check(event) == [
        "agent: expected text, got 5",
        "step: expected the seq of a step, got 'one'",
        "timestamp: expected a time like 2024-01-15T10:30:00Z, got 'now'",
    ]
    for time in ("2024-01-15T10:30:00Z", "2024-01-15T10:30:00.123456+02:00", "2024-01-15 10:30", ""):
        assert check(made("checkpoint", {}, timestamp=time)) == []


def test_a_key_at_fault_is_left_out_of_the_payload() -> None:
    """The rest is as usable as before; without a required key there is no payload."""
    typed = payload(made("step_end", {"tokens": 350, "outcome": "success"}))
    assert typed == StepEnd(outcome="success")
    assert payload(made("fact_added", {"confidence": 0.5})) is None
    assert payload(made("fact_added", {"id": "F1", "confidence": "x"})) == FactAdded(id="F1")
    assert payload(made("llm_trace", {"model": "x"})) is None
    assert payload(made("step_start", None)) == StepStart()


def test_unknown_keys_and_types_are_no_problem() -> None:
    """The log may hold more than this version knows."""
    assert check(made("step_start", {"zone": {"a": 1}, "intent": "x"})) == []
    assert check(made("anything", {"tokens": 350})) == []
    assert payload(made("stream_chunk", {"stream_id": "s", "x": 1})) == StreamChunk(stream_id="s")


def test_reserved_words_have_names() -> None:
    """`from` of a handoff is `from_agent`."""
    assert payload(made("handoff", {"from": "a", "to": "b"})) == Handoff(from_agent="a", to_agent="b")
    start = payload(made("step_start", {"model": {"id": "gpt-4", "role": "planning"}}))
    assert isinstance(start, StepStart)
    assert start.model == ModelRef(id="gpt-4", role="planning")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    sorted({field.encode_name for kind in PAYLOADS.values() for field in msgspec.structs.fields(kind)})
)


@given(st.sampled_from(sorted(PAYLOADS)), st.dictionaries(KEYS, ANY, max_size=8) | ANY)
def test_no_data_is_too_strange(type: str, data: Any) -> None:
    """check and payload never raise; what check passes, payload takes whole."""
    event = made(type, data)
    problems = check(event)
    typed = payload(event)
    assert all("\n" not in text for text in problems)
    if not problems:
        assert typed is not None
        assert typed == msgspec.convert(event.data, PAYLOADS[type])
