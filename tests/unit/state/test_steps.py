"""Steps as a tree, whose time and whose tokens."""

from __future__ import annotations

from typing import Any

import pytest

from lctl.state import times
from lctl.state.model import State, Tokens
from lctl.state.reducer import fold
from tests.unit.state.logs import events

START, END = "step_start", "step_end"


def codes(state: State) -> list[tuple[int, str]]:
    return [(note.seq, note.code) for note in state.diagnostics]


def test_a_step_end_without_step_closes_the_newest_open_step_of_its_agent() -> None:
    """Nested and interleaved agents of a plain log are told apart by their names."""
    state = fold(
        events(
            (START, None, {"intent": "outer"}, "a"),
            (START, None, {"intent": "inner"}, "a"),
            (START, None, {"intent": "other"}, "b"),
            ("tool_call", None, {"tool": "grep"}, "a"),
            (END, None, {"outcome": "first"}, "a"),
            ("error", None, {}, "b"),
            (END, None, {"outcome": "second"}, "b"),
            (END, None, {"outcome": "third"}, "a"),
        )
    )
    assert {seq: step.outcome for seq, step in state.steps.items()} == {1: "third", 2: "first", 3: "second"}
    assert state.open_steps == ()
    assert state.steps[2].tool_calls == 1
    assert state.steps[3].errors == 1
    assert codes(state) == []


def test_steps_that_name_their_parent_are_a_tree() -> None:
    """Children are in order; nothing is guessed once a log says where things happen."""
    state = fold(
        events(
            (START, {"kind": "agent"}),
            (START, 1, {"kind": "llm", "model": "m"}),
            (START, 1, {"kind": "tool", "tool": "grep"}),
            (END, 2, {"outcome": "success"}),
            ("tool_call", {"tool": "ls"}),
        )
    )
    assert state.steps[1].children == (2, 3)
    assert (state.steps[2].parent, state.steps[2].model) == (1, "m")
    assert (state.steps[3].kind, state.steps[3].tool) == ("tool", "grep")
    assert state.open_steps == (1, 3)
    assert state.current_step == 3
    assert [step.tool_calls for step in state.steps.values()] == [0, 0, 0], "outside any step"


def test_what_a_log_gets_wrong_about_steps_is_noted() -> None:
    """Ends of nothing, second ends, parents that are not there: a diagnostic each, and the rest stands."""
    state = fold(
        events(
            (END, None, {}),
            (END, 77, {}),
            (START, 50, {}),
            (END, 3, {"outcome": "success", "tokens": {"input": 5}}),
            (END, 3, {"outcome": "error", "tokens": {"input": 9}}),
            ("error", 60, {}),
        )
    )
    assert codes(state) == [(n, "step_unknown") for n in (1, 2, 3)] + [
        (5, "step_ended_twice"),
        (6, "step_unknown"),
    ]
    assert state.steps[3].outcome == "success"
    assert state.steps[3].parent is None
    assert state.totals.tokens == Tokens(5, 0)


@pytest.mark.parametrize("outer_first", [False, True])
def test_tokens_of_nested_steps_count_once(outer_first: bool) -> None:
    """The inner report is the truth, whichever step ends first."""
    inner = [
        (END, 2, {"tokens": {"input": 10, "output": 2}}),
        (END, 3, {"tokens": {"input": 20, "cache_read": 8}}),
    ]
    outer = [(END, 1, {"tokens": {"input": 30, "output": 2, "cache_read": 8}})]
    state = fold(
        events(
            (START, {"kind": "agent", "model": "wrapper"}),
            (START, 1, {"kind": "llm", "model": "x"}),
            (START, 1, {"kind": "llm", "model": "y"}),
            *(outer + inner if outer_first else inner + outer),
        )
    )
    assert state.totals.tokens == Tokens(30, 2, cache_read=8)
    assert {name: usage.tokens.input for name, usage in state.models.items() if usage.tokens.input} == {
        "x": 10,
        "y": 20,
    }
    assert state.agents["a"].tokens == state.totals.tokens
    assert [step.counted for step in state.steps.values()] == [False, True, True]
    assert state.steps[1].tokens == Tokens(30, 2, cache_read=8), "what it said itself stays"


def test_tokens_count_once_down_a_deep_chain() -> None:
    """Ten thousand steps in one another, each repeating the sum: no recursion, no repetition."""
    depth = 10_000
    starts: list[tuple[Any, ...]] = [(START, n or None, {}) for n in range(depth)]
    ends = [(END, n, {"tokens": {"input": 7}}) for n in range(depth, 0, -1)]
    assert fold(events(*starts, *ends)).totals.tokens.input == 7


def test_a_step_without_reporting_children_counts_itself() -> None:
    """The protocol's plain logs report tokens of an agent's step."""
    state = fold(
        events((START, {}), (START, 1, {}), (END, 2, {}), (END, 1, {"tokens": {"input": 500, "output": 200}}))
    )
    assert state.totals.tokens.total == 700


def test_malformed_values_are_passed_over_with_a_diagnostic() -> None:
    """tokens: 350, confidence: "high", data: null and their kin never raise."""
    state = fold(
        events(
            (START, {"intent": 7, "model": ["m"]}),
            ("fact_added", {"id": "F1", "confidence": "high", "text": "t"}),
            ("fact_added", {"text": "nameless"}),
            ("fact_added", {"id": "F2", "confidence": 7}),
            (END, {"tokens": 350, "duration_ms": "long", "outcome": "success"}),
            ("tool_call", {"tool": None, "duration_ms": -5}),
        )
    )
    assert codes(state) == [
        (1, "bad_value"),
        (1, "bad_value"),
        (2, "bad_value"),
        (3, "missing_id"),
        (4, "confidence_range"),
        (5, "bad_value"),
        (5, "bad_value"),
        (6, "bad_value"),
    ]
    assert state.diagnostics[6].text == "step_end: cannot use tokens = 350; passed over"
    assert state.facts["F1"].confidence is None
    assert state.steps[1].duration_ms == 4000.0, "from the timestamps, when duration_ms is no number"
    assert state.steps[1].tokens is None


def test_token_counts_that_can_be_used_are() -> None:
    """One bad count does not spoil the others."""
    state = fold(events((START, {}), (END, {"tokens": {"input": 5, "output": "many", "cache_read": None}})))
    assert state.totals.tokens == Tokens(5, 0)
    assert codes(state) == [(2, "bad_value")]


def test_models_are_named_in_every_form_the_protocol_has() -> None:
    """Text, {id, role}, and the agent's profile."""
    state = fold(
        events(
            (START, {"model": "text"}),
            (START, {"model": {"id": "object", "role": "planning"}}),
            (START, {"agent_profile": {"type": "reviewer", "model": "profile"}}),
        )
    )
    assert [step.model for step in state.steps.values()] == ["text", "object", "profile"]


def test_an_agent_is_busy_once_at_a_time() -> None:
    """Nested and parallel steps of one agent do not add up; models and tools sum their calls."""
    state = fold(
        events(
            (START, {}),
            (START, 1, {"kind": "llm", "model": "m"}),
            (START, 1, {"kind": "llm", "model": "m"}),
            (END, 2, {"duration_ms": 2000}),
            (END, 3, {"duration_ms": 2000, "outcome": "error"}),
            ("tool_call", 1, {"tool": "grep", "duration_ms": 30}),
            ("tool_call", 1, {"tool": "grep", "duration_ms": 20, "error": "no such file"}),
            (END, 1, {}),
        )
    )
    assert state.agents["a"].wall_ms == 7000.0
    assert (state.models["m"].calls, state.models["m"].errors, state.models["m"].wall_ms) == (2, 1, 4000.0)
    assert (state.tools["grep"].calls, state.tools["grep"].errors, state.tools["grep"].wall_ms) == (
        2,
        1,
        50.0,
    )
    assert state.totals.llm_calls == 2
    assert times.exclusive(state) == {1: 4000.0, 2: 2000.0, 3: 2000.0}
    assert times.busy(state) == state.totals.duration_ms == 7000.0
    assert times.by_agent(state)["a"] == (7000.0, 7000.0)


def test_times_of_a_log_without_times() -> None:
    """No timestamps, no intervals; a duration that was said is kept."""
    log = events((START, {}), (END, {"duration_ms": 12}))
    state = fold(type(event)(**{**event.to_dict(), "timestamp": ""}) for event in log)
    assert times.exclusive(state) == {}
    assert state.totals.duration_ms == 0.0
    assert state.steps[1].duration_ms == 12.0
    assert state.agents["a"].wall_ms == 12.0


def test_waiting_on_another_agent_is_not_its_own_time() -> None:
    """Exclusive time by agent leaves out what it handed to others."""
    state = fold(
        events(
            (START, None, {}, "boss"), (START, 1, {}, "worker"), (END, 2, {}, "worker"), (END, 1, {}, "boss")
        )
    )
    assert times.by_agent(state) == {"boss": (3000.0, 2000.0), "worker": (1000.0, 1000.0)}
