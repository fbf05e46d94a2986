"""lctl -> OTLP -> lctl: steps, tokens, tools, errors and times are what they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.analysis.stats import stats
from lctl.codec import Log, validate, verify
from lctl.conversation.tree import Tree
from lctl.events import TAPE_TYPES
from lctl.importing import Imported, convert
from lctl.importing.source import Source
from lctl.spans import spans_of
from lctl.spans.otlp import binary, document
from lctl.training import samples
from tests.seeds import tries
from tests.unit.otel.logs import chain, record

#: What a log has beside what happened: it is for running again, or names messages by their seqs.
ASIDE = {
    *("message_id", "parent_id", "prompt", "message", "messages", "tools", "tool_definitions", "lane", "at"),
    *("status", "sampled", "tape", "turn", "annotations"),
}


def back(log: Log) -> Imported:
    return convert(Source(json.dumps(document(spans_of(log))).encode(), "spans"))


def told(log: Log) -> list[tuple[Any, ...]]:
    """Events but messages and the tape, with what they say."""
    kept = [event for event in log.events() if event.type not in ("message", *TAPE_TYPES)]
    seqs = {event.seq: n for n, event in enumerate(kept)}
    return [
        (event.type, event.timestamp, event.agent, seqs.get(event.step or 0),
         {key: value for key, value in event.data.items() if key not in ASIDE})
        for event in kept
    ]  # fmt: skip


def conversation(log: Log) -> list[tuple[Any, ...]]:
    """What was said, message by message, in one dialect."""
    from lctl.spans.parts import input_message

    return [
        (event.timestamp, event.agent, input_message(event.data)["role"], input_message(event.data)["parts"])
        for event in log.events()
        if event.type == "message"
    ]


def test_a_recorded_run_comes_back(tmp_path: Path) -> None:
    """Event for event, message for message, by JSON and by protobuf."""
    log = record(tmp_path / "run.lctl.json")
    found = back(log)
    assert told(found.log) == told(log) and conversation(found.log) == conversation(log)
    assert found.lost == [] and validate(found.log) == [] and verify(found.log).ok
    assert found.log.chain["imported"]["chain"] == "run-1"
    pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    other = convert(Source(binary(document(spans_of(log))), "spans"))
    assert (other.form, other.shown) == ("otlp", "OTLP spans in protobuf")
    assert told(other.log) == told(log)


def test_a_model_step_within_another_stays_one() -> None:
    """Another's spans tell of such a call twice; a log of ours never does."""
    model = {"type": "step_start", "data": {"kind": "llm", "model": "gpt-4o", "intent": "plan"}}
    ended = {"type": "step_end", "data": {"outcome": "success", "tokens": {"input": 3, "output": 1}}}
    log = chain(model, {**model, "step": 1}, {**ended, "step": 2}, {**ended, "step": 1})
    found = back(log)
    assert [one[4].get("kind") for one in told(found.log)[:2]] == ["llm", "llm"]
    assert stats(found.log).tokens == stats(log).tokens and "counted once" not in str(found.lost)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("aborted", "aborted"), ("cancelled", "aborted"), ("error", "error"), ("success", "aborted")],
)
def test_an_answer_that_broke_off_is_none_afterwards(outcome: str, status: str) -> None:
    """Not in the span, whose readers know it by `finish_reason`, and not in the log made of that."""
    begun = {"kind": "llm", "model": "gpt-4o", "prompt": "u"}
    said = {"message_id": "a", "parent_id": "u", "role": "assistant", "content": "one two", "sampled": True}
    log = chain(
        {"type": "message", "data": {"message_id": "u", "parent_id": None, "role": "user", "content": "?"}},
        {"type": "step_start", "data": begun},
        {"type": "message", "step": 2, "data": {**said, "status": status}},
        {"type": "step_end", "step": 2, "data": {"outcome": outcome, "message": "a"}},
    )
    span = next(one for one in spans_of(log) if "gen_ai.output.messages" in one.attributes)
    assert json.loads(span.attributes["gen_ai.output.messages"])[0]["finish_reason"] == "error"
    found = back(log).log
    assert [one.data.get("status") for one in found.events() if one.type == "message"] == [None, status]
    assert list(samples(Tree.of(found.events()))) == []


def test_a_log_without_times_comes_back_whole() -> None:
    """As trajectories are that others wrote: what stands outside of steps, too."""
    fact = {"id": "F1", "text": "who was wrong", "source": "judge"}
    events: list[dict[str, Any]] = [
        {"type": "step_start", "data": {"kind": "llm", "model": "m"}},
        {"type": "step_end", "step": 1, "data": {"outcome": "success"}},
        {"type": "message", "data": {"message_id": "u", "role": "user", "content": "and then?"}},
        {"type": "fact_added", "data": fact},
        {"type": "error", "data": {"category": "execution_error", "type": "timeout", "message": "x"}},
    ]
    found = list(back(chain(*({"timestamp": "", **event} for event in events))).log.events())
    assert [one.data for one in found if one.type == "fact_added"] == [fact]
    assert [one.data["message"] for one in found if one.type == "error"] == ["x"]
    assert [one.data["content"] for one in found if one.type == "message"] == ["and then?"]


@pytest.mark.parametrize(
    ("duration", "lost"),
    [(10**400, 2), (-3, 2), ("long", 2), (float("inf"), 0), (float("nan"), 0), (None, 0)],
    ids=["huge", "negative", "text", "infinite", "not a number", "null"],
)
def test_a_duration_that_no_span_has(duration: Any, lost: int) -> None:
    """Of others' logs: the tool's run is a moment then, and has none afterwards; what JSON has is told."""
    ran = {"tool": "grep", "input": 1, "output": 2}
    log = chain(
        {"type": "step_start", "data": {"intent": "look"}},
        {"type": "tool_call", "step": 1, "data": {**ran, "duration_ms": duration}},
        {"type": "step_end", "step": 1, "data": {"outcome": "success", "duration_ms": duration}},
    )
    found = back(log)
    assert [event.data for event in found.log.events() if event.type == "tool_call"] == [ran]
    assert len(found.lost) == lost


def test_sounds_and_files_come_back() -> None:
    """As OpenAI's chat has them."""
    file = {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}
    content = [
        {"type": "text", "text": "hear and read"},
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        {"type": "file", "file": file},
    ]
    log = chain(
        {"type": "message", "data": {"message_id": "u", "role": "user", "content": content}},
        {"type": "step_start", "data": {"kind": "llm", "model": "gpt-4o", "prompt": "u"}},
        {"type": "step_end", "step": 2, "data": {"outcome": "success"}},
    )
    found = [one.data["content"] for one in back(log).log.events() if one.type == "message"]
    assert found == [content]


def test_results_of_tools_in_another_order_stay_in_it() -> None:
    """Two calls read the same two results, the second the other way round: each has its own path."""

    def message(id: str, parent: str | None, role: str, **data: Any) -> dict[str, Any]:
        told = {"message_id": id, "parent_id": parent, "role": role, **data}
        return {"type": "message", "data": told}

    def call(at: int, prompt: str, answer: dict[str, Any]) -> list[dict[str, Any]]:
        begun = {"kind": "llm", "model": "m", "operation": "chat.completions", "prompt": prompt}
        answer["data"]["sampled"] = True
        ended = {"outcome": "success", "message": answer["data"]["message_id"]}
        return [
            {"type": "step_start", "data": begun},
            {**answer, "step": at},
            {"type": "step_end", "step": at, "data": ended},
        ]

    asked = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in "xy"]
    log = chain(
        message("u", None, "user", content="go"),
        *call(2, "u", message("a", "u", "assistant", tool_calls=asked)),
        message("x1", "a", "tool", tool_call_id="x", content="1"),
        message("y1", "x1", "tool", tool_call_id="y", content="2"),
        *call(7, "y1", message("b", "y1", "assistant", content="one")),
        message("y2", "a", "tool", tool_call_id="y", content="2", exact=True),
        message("x2", "y2", "tool", tool_call_id="x", content="1"),
        *call(12, "x2", message("c", "x2", "assistant", content="two")),
        *call(15, "x1", message("d", "x1", "assistant", content="early", exact=True)),
    )
    found = Tree.of(back(log).log.events())
    paths = [[node.message.get("content") for node in found.path(leaf.id)] for leaf in found.leaves]
    assert sorted(path[2:] for path in paths) == [["1", "2", "one"], ["1", "early"], ["2", "1", "two"]]


@pytest.mark.slow
def test_the_demo_comes_back(tmp_path: Path) -> None:
    """Two providers, a stream, a retry, concurrent agents: totals and every step are the same."""
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    from lctl.codec import open_log
    from lctl.demo import run_demo

    log = open_log(run_demo(7, tmp_path / "demo.lctl.json").path)
    found = back(log)
    ours, theirs = stats(log), stats(found.log)
    assert ours.tokens == theirs.tokens and ours.cost == theirs.cost
    without = [
        (*one[:4], {key: value for key, value in one[4].items() if not key.endswith("_hash")})
        for one in told(log)
    ]
    assert told(found.log) == without
    assert conversation(found.log) == conversation(log)


NAMES = st.sampled_from(["a", "b", "", "ü \U0001f600", "x" * 40])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(-1e9, 1e9)
    | st.text(max_size=8) | st.just('{"json": true}') | st.just("[1"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
COUNTS = st.fixed_dictionaries(
    {},
    optional={
        name: st.integers(0, 10**9) for name in ("input", "output", "cache_read", "cache_write", "total")
    },
)


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Steps that nest and overlap, tools, errors, facts."""
    events: list[dict[str, Any]] = []
    open: list[int] = []
    second = 0
    for _ in range(draw(st.integers(1, 14))):
        second += draw(st.integers(0, 2))
        seq = len(events) + 1
        kinds = ["start", "tool", "error", "fact"] + ["end"] * 2 * bool(open)
        kind = draw(st.sampled_from(kinds))
        step = draw(st.sampled_from(open)) if open and (kind == "end" or draw(st.booleans())) else None
        event: dict[str, Any] = {"timestamp": f"2026-01-01T00:00:{second:02}.{seq:06}Z", "agent": draw(NAMES)}
        if step is not None:
            event["step"] = step
        if kind == "start":
            event |= {"type": "step_start", "data": _started(draw)}
            open.append(seq)
        elif kind == "end" and step is not None:
            open.remove(step)
            event |= {
                "type": "step_end",
                "agent": events[step - 1]["agent"],
                "data": _ended(draw, events[step - 1]),
            }
        elif kind == "tool":
            event |= {"type": "tool_call", "data": _tool(draw)}
        elif kind == "error":
            event |= {"type": "error", "data": {"category": "execution_error", "type": "t", "message": "m"}}
        else:
            event |= {
                "type": "fact_added",
                "data": {"id": f"F{seq}", "text": draw(NAMES), "value": draw(VALUES)},
            }
        events.append(event)
    return chain(*events)


def _started(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from([None, "llm", "agent", "chain", "retriever", "novel", "tool"]))
    data: dict[str, Any] = {} if kind is None else {"kind": kind}
    data["intent"] = draw(st.sampled_from(["plan", "do"]))
    if kind == "llm":
        data |= {"model": "gpt-4o", "provider": draw(st.sampled_from(["openai", "google", "aws", "acme"]))}
        data["params"] = {"temperature": 0.5, "novel": draw(VALUES)}
    if draw(st.booleans()):
        data["unheard_of"] = draw(VALUES)
    return data


def _ended(draw: st.DrawFn, start: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"outcome": draw(st.sampled_from(["success", "error", "aborted", "paused"]))}
    data["duration_ms"] = draw(st.sampled_from([0.0, 12.5, 1000.0]))
    if draw(st.booleans()):
        data["output"] = draw(VALUES)
    tokens = draw(COUNTS)
    if tokens and start["data"].get("kind") == "llm":
        data |= {"tokens": tokens, "model": "gpt-4o-2", "finish_reason": "stop", "first_chunk_ms": 3.25}
    return data


def _tool(draw: st.DrawFn) -> dict[str, Any]:
    data: dict[str, Any] = {"tool": draw(st.sampled_from(["grep", "add"])), "input": draw(VALUES)}
    data |= {"error": "no"} if draw(st.booleans()) else {"output": draw(VALUES)}
    if draw(st.booleans()):
        data["duration_ms"] = draw(st.sampled_from([0.0, 1.5, 1e308]))
    if draw(st.booleans()):
        data["call_id"] = draw(st.sampled_from(["c1", "c2"]))
    return data


def _plain(one: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without what is as if it were not there: null, "" and empty lists and objects."""
    *rest, data = one
    return (*rest, {key: value for key, value in data.items() if value not in (None, "", [], {})})


@settings(max_examples=tries(25), deadline=None)
@given(logs())
def test_any_steps_tools_and_errors_come_back(log: Log) -> None:
    """Whatever nests, overlaps, fails or never ends."""
    found = back(log)
    assert [_plain(one) for one in told(found.log)] == [_plain(one) for one in told(log)]
    assert stats(found.log).tokens == stats(log).tokens
