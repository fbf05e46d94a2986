"""Statistics of a chain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.analysis.failures import failures
from lctl.analysis.report import markdown
from lctl.analysis.stats import stats
from lctl.analysis.statstext import lines
from lctl.analysis.surveying import survey
from lctl.codec import open_log
from lctl.state.model import Tokens
from lctl.state.reducer import fold
from lctl.state.summary import summary_of
from lctl.state.timeline import Timeline
from tests.unit.analysis.chains import Script, log_of, spec_example


def test_the_protocols_example_prints_as_it_stands() -> None:
    """All lines of the summary; a log that names no model has no cost."""
    value = stats(spec_example().log("security-review-001"))
    assert lines(value) == [
        "Chain: security-review-001",
        "Duration: 45.2s",
        "Tokens: 2,340 (in: 1,500 / out: 840)",
        "Cost: unknown (no price for calls that name no model)",
        "Agents: 3",
        "Errors: 1",
        "Avg confidence: 0.87",
    ]


def test_cost_prints_with_three_decimals() -> None:
    """`$0.047`, worked out from the model answered."""
    script = Script()
    user = script.message("user", "hi", None)
    script.call(user, "hello", tokens={"input": 12_000, "output": 1_700})
    assert "Cost: $0.047" in lines(stats(script.log()))


def _two_models() -> Script:
    script = Script()
    step = script.start("worker", kind="agent", intent="work")
    user = script.message("user", "hi", None, "worker", step)
    known = script.call(
        user, "a", "worker", step, ms=100, tokens={"input": 1000, "output": 0}, first_chunk_ms=20
    )
    again = script.message("user", "more", known, "worker", step)
    script.call(again, "b", "worker", step, ms=300, model="my-own", tokens={"input": 5, "output": 5})
    script.add("tool_call", "worker", step, tool="grep", input={}, output=1, duration_ms=40)
    script.add("tool_call", "worker", step, tool="grep", input={}, error="no", duration_ms=60)
    script.end(step, "worker", duration_ms=500, tokens={"input": 1005, "output": 5})
    return script


def test_a_fork_took_no_longer_than_it_ran() -> None:
    """Its first events have the times of the recording, which may be a week old."""
    script = Script()
    step = script.start("worker", intent="plan")
    script.after(100).end(step, "worker")
    own = script.after(7 * 86_400_000).start("worker", intent="do")
    script.after(300).end(own, "worker")
    fork = log_of(script.events, "f", fork={}, parent={"id": "r", "seq": 2})
    assert stats(fork).duration_ms == 400
    assert [row.wall_ms for row in stats(fork).agents] == [400]
    assert "Duration: 400ms (without 168h 0m since its recording)" in lines(stats(fork))


def test_calls_that_do_not_say_what_they_used_cost_an_unknown_amount() -> None:
    """Streams whose usage nobody asked for: not nothing."""
    script = Script()
    script.end(script.start("main", kind="llm", model="gpt-4o"))
    value = stats(script.log())
    assert (value.cost, value.silent_calls, value.models[0].cost) == (None, 1, None)
    assert "Cost: unknown (no price for a call that does not say what it used)" in lines(value)
    user = script.message("user", "hi", None)
    script.call(user, "b", tokens={"input": 12_000, "output": 1_700})
    assert "Cost: $0.047 (without a call that does not say what it used)" in lines(stats(script.log()))


def test_an_answer_that_was_left_cost_something() -> None:
    """A call that failed before there was one did not."""
    script = Script()
    user = script.message("user", "hi", None)
    script.call(user, "b", tokens={"input": 12_000, "output": 1_700})
    script.end(script.start("main", kind="llm", model="gpt-4o"), outcome="error")
    assert "Cost: $0.047" in lines(stats(script.log()))
    script.end(script.start("main", kind="llm", model="gpt-4o"), outcome="aborted", message="m9")
    assert "Cost: $0.047 (without a call that does not say what it used)" in lines(stats(script.log()))


def test_errors_and_failures_are_told_apart() -> None:
    """An attempt that was retried is an error of a call that succeeded; what failed without an error is a
    failure; an error that leaves its steps is one, though each event is an error."""
    script = Script()
    step = script.start("worker")
    call = script.start("worker", step, kind="llm", model="gpt-4o")
    limited = {"category": "execution_error", "type": "rate_limited", "message": "slow down"}
    script.add("error", "worker", call, **limited)
    script.end(call, "worker", message="m1")
    script.end(script.start("worker", step, kind="llm", model="gpt-4o"), "worker", outcome="cancelled")
    script.add("tool_call", "worker", step, tool="read", input={}, error="no such file")
    script.end(step, "worker")
    value = stats(script.log())
    assert (value.errors, value.failures) == (1, 3) == (1, sum(one.count for one in failures(script.log())))
    assert "Errors: 1 (3 failures: lctl errors)" in lines(value)
    (agent,), (model,), (tool,) = value.agents, value.models, value.tools
    assert [(row.calls, row.failed, row.errors) for row in (agent, model, tool)] == [
        (3, 1, 1), (2, 1, 1), (1, 1, 1),
    ]  # fmt: skip
    script.add("error", "worker", **limited)
    last = script.start("worker")
    script.add("error", "worker", script.start("worker", last, kind="llm"), **limited)
    script.add("error", "worker", last, **limited)
    assert (stats(script.log()).errors, stats(script.log()).failures) == (4, 5)


def test_a_message_counts_once() -> None:
    """A session says of one that it is its own; one that is streamed is one, too."""
    script = Script()
    script.message("assistant", "a long answer", None)
    script.add("message", message_id="m1", session_id="s", message_number=1)
    script.add("stream_start", message_id="m2", parent_id="m1")
    script.add("stream_chunk", message_id="m2", content="and ")
    script.add("stream_end", message_id="m2")
    script.add("stream_start")
    assert stats(script.log()).messages == fold(script.log().events()).totals.messages == 2
    assert survey(script.log()).messages["m1"].role == "assistant"


def test_a_confidence_that_is_none() -> None:
    """It has no part in the mean."""
    script = Script()
    script.add("fact_added", id="F1", text="t", confidence=0.5)
    script.add("fact_added", id="F2", text="t", confidence=7)
    assert stats(script.log()).confidence == 0.5


def test_tokens_that_nobody_told_are_unknown() -> None:
    """As the cost is; where some told, their sum stands."""
    script = Script()
    script.end(script.start("main", kind="llm", model="gpt-4o"))
    assert "Tokens: unknown (a call that does not say what it used)" in lines(stats(script.log()))
    assert "| gpt-4o | 1 | 0 | 0ms | 0ms | ? | ? | ? |" in markdown(script.log())
    user = script.message("user", "hi", None)
    script.call(user, "b", tokens={"input": 12_000, "output": 1_700})
    assert "Tokens: 13,700 (in: 12,000 / out: 1,700)" in lines(stats(script.log()))
    assert "Tokens: 0 (in: 0 / out: 0)" in lines(stats(Script().log()))


def test_to_count_tokens_is_free() -> None:
    """Such a call does not say what it used, for it used nothing: the cost is known."""
    script = Script()
    user = script.message("user", "hi", None)
    script.call(user, "hello", tokens={"input": 12_000, "output": 1_700})
    step = script.start("main", kind="llm", intent="messages.count_tokens", model="claude-haiku-4-5")
    script.end(step, "main", outcome="success")
    assert "Cost: $0.047" in lines(stats(script.log()))


def test_a_model_without_a_price_makes_the_cost_partial() -> None:
    """It is named, and the rest is summed."""
    value = stats(_two_models().log())
    assert value.cost == pytest.approx(0.0025)
    assert value.cost_is_partial
    assert value.unpriced == (("my-own", 1),)
    assert "Cost: $0.003 (without my-own)" in lines(value) or "Cost: $0.0025 (without my-own)" in lines(value)


def test_an_agents_own_sum_is_not_counted_again() -> None:
    """The step around two model calls reports what they used together."""
    value = stats(_two_models().log())
    assert value.tokens == Tokens(input=1005, output=5)
    [agent] = value.agents
    assert (agent.name, agent.tokens.total, agent.llm_calls, agent.tool_calls) == ("worker", 1010, 2, 2)


def test_exclusive_time_adds_up_and_wall_time_does_not_count_twice() -> None:
    """The agent ran 500 ms; its calls are in that."""
    [agent] = stats(_two_models().log()).agents
    assert agent.wall_ms == pytest.approx(500)
    assert agent.exclusive_ms == pytest.approx(500)


def test_models_and_tools_have_their_rows() -> None:
    """Calls, errors, percentiles, tokens, cost."""
    value = stats(_two_models().log())
    known, own = value.models
    assert (known.name, known.calls, known.p50_ms, known.tokens.input) == ("gpt-4o", 1, 100, 1000)
    assert (own.name, own.cost, own.unpriced) == ("my-own", None, 1)
    [grep] = value.tools
    assert (grep.calls, grep.errors, grep.p50_ms, grep.p95_ms) == (2, 1, 50, 59)
    assert value.first_chunk_p50_ms == 20


def test_retries_are_attempts_beyond_the_first() -> None:
    """One exchange per attempt, in the step of the call."""
    script = Script()
    llm = script.start(kind="llm", model="gpt-4o", provider="openai")
    for attempt in (1, 2, 3):
        script.add("exchange", "main", llm, attempt=attempt, status=429 if attempt < 3 else 200)
        if attempt < 3:
            script.add(
                "error", "main", llm, category="execution_error", type="rate_limited", message="slow down"
            )
    script.end(llm)
    value = stats(script.log())
    assert (value.retries, value.errors) == (2, 2)
    assert value.errors_by_category == (("execution_error/rate_limited", 2),)
    assert (value.models[0].retries, value.models[0].errors) == (2, 2)


def test_a_chain_without_tokens_costs_nothing() -> None:
    """Zero is known; only tokens without a price are not."""
    script = Script()
    script.add("fact_added", id="F1", text="t", confidence=0.5)
    assert stats(script.log()).cost == 0.0


def test_an_open_step_lasts_to_the_end_of_the_log() -> None:
    """A hanging call is seen hanging."""
    script = Script()
    script.start(kind="llm", model="gpt-4o")
    script.after(5000).add("checkpoint", "system")
    value = stats(script.log())
    assert (value.open_steps, value.agents[0].wall_ms, [agent.name for agent in value.agents]) == (
        1,
        5000,
        ["main"],
    )


def test_the_model_may_stand_where_the_protocol_lets_it() -> None:
    """`model.id` and the agent profile's model."""
    script = Script()
    for key, value in (
        ("model", {"id": "gpt-4o", "role": "planning"}),
        ("agent_profile", {"model": "gpt-4o"}),
    ):
        step = script.add("step_start", **{key: value})
        script.add("step_end", "main", step, outcome="success", tokens={"input": 1000, "output": 0})
    assert stats(script.log()).cost == pytest.approx(0.005)


def test_an_empty_chain_has_statistics() -> None:
    """Nothing is divided by zero."""
    value = stats(log_of([]))
    assert (value.events, value.duration_ms, value.confidence, value.cost) == (0, 0, None, 0.0)
    assert len(lines(value)) == 7


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
_KEYS = st.sampled_from(
    [
        "tokens",
        "duration_ms",
        "model",
        "id",
        "confidence",
        "kind",
        "tool",
        "input",
        "error",
        "message_id",
        "parent_id",
        "prompt",
        "message",
        "content",
        "category",
        "url",
        "provider",
        "first_chunk_ms",
        "agent_profile",
    ]
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["step_start", "step_end", "tool_call", "error", "message", "fact_added", "exchange"]
            ),
            st.none() | st.integers(-1, 6),
            st.dictionaries(_KEYS, _JUNK, max_size=5),
            st.sampled_from(["2026-01-01T00:00:00Z", "", "yesterday", "0001-01-01T00:00:00Z"]),
        ),
        max_size=8,
    )
)
def test_nothing_an_event_holds_raises(parts: list[tuple[str, int | None, dict[str, Any], str]]) -> None:
    """Values of the wrong type count as absent."""
    events = []
    for n, (type, step, data, at) in enumerate(parts, 1):
        event: dict[str, Any] = {"seq": n, "type": type, "timestamp": at, "agent": "a", "data": data}
        if step is not None:
            event["step"] = step
        events.append(event)
    log = open_log(json.dumps({"lctl": "4.0", "chain": {"id": "c"}, "events": events}).encode())
    assert lines(stats(log))


def test_tokens_of_the_wrong_type_are_absent() -> None:
    """`tokens: 350` is no count of input or output."""
    script = Script()
    step = script.start()
    script.end(step, tokens=350)
    found = survey(script.log())
    assert found.steps[step].tokens is None


def test_numbers_beyond_belief_are_not_added() -> None:
    """What the state passes over as no duration and no count, the sums pass over too."""
    script = Script()
    step = script.start("a", kind="llm", model="gpt-4o")
    script.after(10).end(step, "a", duration_ms=1e308, tokens={"input": 10**18, "output": 7})
    script.add("tool_call", "a", None, tool="t", duration_ms=1e300)
    found = stats(script.log())
    assert (found.duration_ms, found.tokens.input, found.tokens.output) == (10.0, 0, 7)
    assert found.tools[0].p50_ms is None


def test_a_log_lasts_from_its_earliest_timestamp_to_its_latest() -> None:
    """In whatever order and form they stand; the state at any seq, the summary and the statistics agree."""
    stamps = [
        "2026-01-01T00:00:05.000000Z",
        "2026-01-01T00:00:02.500000Z",
        "2026-01-01T03:00:09+03:00",
        "later",
        "2026-01-01T00:00:08.000000Z",
        "2026-01-01T00:00:01",
        "2026-01-01T00:00:03.000000Z",
    ]
    events = [
        {"seq": n, "type": "step_start", "timestamp": stamp, "agent": "a", "data": {}}
        for n, stamp in enumerate(stamps, 1)
    ]
    log = open_log(json.dumps({"lctl": "4.0", "chain": {"id": "c"}, "events": events}).encode())
    timeline = Timeline(log, every=2)
    expected = [0.0, 2500.0, 6500.0, 6500.0, 6500.0, 8000.0, 8000.0]
    assert [timeline.at(n).totals.duration_ms for n in range(1, 8)] == expected
    assert [fold(log.events(stop=n + 1)).totals.duration_ms for n in range(1, 8)] == expected
    summary = summary_of(timeline.last)
    assert (summary["first_timestamp"], summary["last_timestamp"]) == (stamps[5], stamps[2])
    assert stats(log).duration_ms == summary["duration_ms"] == 8000.0


def test_a_cost_nobody_knows_says_for_what() -> None:
    """The models that have no price, and calls that name none."""
    script = Script()
    for model in ("my-own", "our-own", None):
        named: dict[str, Any] = {"model": model} if model else {}
        script.end(script.start("a", kind="llm", **named), "a", tokens={"input": 1, "output": 1}, **named)
    cost = next(line for line in lines(stats(script.log())) if line.startswith("Cost"))
    assert cost == "Cost: unknown (no price for calls that name no model, my-own, our-own)"
