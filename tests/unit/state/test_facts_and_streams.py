"""Facts with their history; streams; what is counted and passed over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lctl.analysis.stats import stats
from lctl.codec import open_log
from lctl.state.model import Stream
from lctl.state.reducer import fold
from lctl.state.source import MemorySource
from lctl.state.timeline import Timeline
from tests.unit.state.logs import events


def test_a_fact_keeps_its_history() -> None:
    """Added, modified, restated: every statement is there, the newest stands."""
    state = fold(
        events(
            ("fact_added", {"id": "F1", "text": "maybe", "confidence": 0.85, "source": "static-analysis"}),
            ("fact_modified", {"id": "F1", "confidence": 0.95, "reason": "verified_by_consensus"}),
            ("fact_modified", {"id": "F1", "text": "sure"}),
            ("fact_added", {"id": "F1", "text": "surely", "confidence": 1}),
        )
    )
    fact = state.facts["F1"]
    assert (fact.text, fact.confidence, fact.source, fact.added, fact.modified) == (
        "surely",
        1.0,
        "static-analysis",
        1,
        4,
    )
    assert fact.history == (
        (1, 0.85, None),
        (2, 0.95, "verified_by_consensus"),
        (3, 0.95, None),
        (4, 1.0, None),
    )
    assert [note.code for note in state.diagnostics] == ["fact_again"]


def test_a_fact_modified_before_it_is_added_is_a_fact() -> None:
    """A log cut at its beginning still shows what it says."""
    state = fold(events(("fact_modified", {"id": 7, "text": "t", "confidence": 0.5, "reason": "r"})))
    assert state.facts["7"].history == ((1, 0.5, "r"),)
    assert [note.code for note in state.diagnostics] == ["fact_unknown"]


def test_chunks_go_to_their_message_or_the_agents_newest_stream() -> None:
    """Interleaved streams, and the protocol's own example, which names none."""
    state = fold(
        events(
            ("stream_start", None, {"message_id": "m1"}, "a"),
            ("stream_start", None, {"expected_chunks": "unknown"}, "a"),
            ("stream_start", None, {"message_id": "m3"}, "b"),
            ("stream_chunk", None, {"message_id": "m1", "index": 0, "tokens": 5}, "b"),
            ("stream_chunk", None, {"index": 0, "content": "x", "tokens": 4}, "a"),
            ("stream_chunk", None, {"index": 2, "tokens": 1}, "a"),
            ("stream_end", None, {"total_chunks": 47, "total_tokens": 203, "duration_ms": 2340}, "a"),
            ("stream_end", None, {"message_id": "m1", "status": "aborted"}, "a"),
            ("stream_chunk", None, {"message_id": "m1"}, "a"),
        )
    )
    assert state.streams == {
        1: Stream(1, "a", "m1", 1, 5, 8, "aborted"),
        2: Stream(2, "a", None, 2, 5, 7, "complete"),
        3: Stream(3, "b", "m3"),
    }
    assert state.open_streams == (3,)
    assert [(note.seq, note.code) for note in state.diagnostics] == [
        (6, "stream_gap"),
        (7, "stream_gap"),
        (9, "stream_unknown"),
    ]


def test_a_streamed_message_is_finished_by_its_end_or_by_the_whole() -> None:
    """The node is there from the start; the whole message, when it comes, is where the content is."""
    log = events(
        ("stream_start", {"message_id": "m1", "parent_id": None, "role": "assistant"}),
        ("stream_end", {"message_id": "m1", "status": "aborted"}),
        ("stream_start", {"message_id": "m3", "parent_id": "m1", "role": "assistant"}),
        (
            "message",
            {"message_id": "m3", "parent_id": "m1", "role": "assistant", "sampled": True, "content": "all"},
        ),
    )
    assert fold(log[:1]).messages["m1"].status == "streaming"
    state = fold(log)
    assert (state.messages["m1"].status, state.messages["m1"].seq) == ("aborted", 1)
    assert (state.messages["m3"].status, state.messages["m3"].seq, state.messages["m3"].sampled) == (
        "complete",
        4,
        True,
    )
    assert state.totals.messages == 2


def test_other_types_are_counted_and_passed_over() -> None:
    """Unknown types, tape and coordination change nothing else; handoffs and checkpoints are found again."""
    state = fold(
        events(
            ("banana", {"peel": 1}),
            ("exchange", {"status": 200}),
            ("handoff", {"to": "b"}),
            ("checkpoint", None, {"state_hash": "abc123"}, "system"),
            ("contract_validation", None, {"status": "passed"}, "system"),
        )
    )
    assert state.totals.events == 5
    assert (state.handoffs, state.checkpoints) == ((3,), (4,))
    assert list(state.agents) == ["a"], "the system only takes notes"
    assert state.diagnostics == ()


def test_events_that_are_missing_or_misplaced_are_noted() -> None:
    """A gap and a seq that comes late; a fork that begins at 42 is neither."""
    log = events(*[("error", {})] * 5)
    state = fold([log[1], log[4], log[2]])
    assert [(note.seq, note.code, note.text) for note in state.diagnostics] == [
        (5, "seq_gap", "events 3 to 4 are missing"),
        (3, "seq_order", "event 3 comes after event 5"),
    ]
    assert state.seq == 5


_STREAM: list[tuple[str, dict[str, Any]]] = [
    ("stream_start", {}),
    ("stream_chunk", {"tokens": 4}),
    ("stream_chunk", {"tokens": 5}),
]
_KINDS = {"total_tokens": 7, "tokens": {"input": 3, "output": 2}}
_INNER: dict[str, Any] = {"tokens": {"input": 100, "output": 30}}


@pytest.mark.parametrize(
    ("log", "totals"),
    [
        ([(*_STREAM[0], 1), (*_STREAM[1], 1), (*_STREAM[2], 1), ("stream_end", {}, 1)], (0, 9)),
        ([(*_STREAM[0], 1), ("stream_end", {"total_tokens": 7}, 1)], (0, 7)),
        (
            [(*_STREAM[0], 1), ("stream_end", _KINDS, 1)],
            (3, 2),
        ),
        ([(*_STREAM[0], None), ("stream_end", {"total_tokens": 7}, None)], (0, 7)),
        # the step itself reports, after or before
        ([(*_STREAM[0], 1), ("stream_end", {"total_tokens": 7}, 1), ("step_end", _INNER, 1)], (100, 30)),
        ([(*_STREAM[0], 1), ("step_end", _INNER, 1), ("stream_end", {"total_tokens": 7}, 1)], (100, 30)),
        # a step beneath it reports, after or before
        (
            [
                (*_STREAM[0], 1),
                ("stream_end", {"total_tokens": 7}, 1),
                ("step_start", {"kind": "llm"}, 1),
                ("step_end", _INNER, 4),
            ],
            (100, 30),
        ),
        (
            [
                ("step_start", {"kind": "llm"}, 1),
                ("step_end", _INNER, 2),
                (*_STREAM[0], 1),
                ("stream_end", {"total_tokens": 7}, 1),
                ("step_end", {}, 1),
            ],
            (100, 30),
        ),
        # the step around it reports, after its own end or before the stream's
        (
            [
                ("step_start", {"model": "m"}, 1),
                (*_STREAM[0], 2),
                ("stream_end", {"total_tokens": 7}, 2),
                ("step_end", {}, 2),
                ("step_end", _INNER, 1),
            ],
            (100, 30),
        ),
        (
            [
                ("step_start", {"model": "m"}, 1),
                (*_STREAM[0], 2),
                ("step_end", _INNER, 1),
                ("stream_end", {"total_tokens": 7}, 2),
            ],
            (100, 30),
        ),
        # steps beside it are other work
        (
            [
                ("step_start", {"kind": "llm", "model": "m"}, 1),
                ("step_end", _INNER, 2),
                ("step_start", {"model": "m"}, 1),
                (*_STREAM[0], 4),
                ("step_end", {}, 4),
                ("stream_end", {"total_tokens": 7}, 4),
            ],
            (100, 37),
        ),
    ],
)
def test_tokens_of_a_stream_count_where_no_step_reports_them(
    log: list[tuple[str, dict[str, Any], int | None]], totals: tuple[int, int]
) -> None:
    """Once, whichever comes first; in the totals, of the agent and of the model; at any seq, folded in any
    parts; and in the statistics."""
    made = events(("step_start", {}), *((type, step, data) for type, data, step in log))
    state = fold(made)
    assert (state.totals.tokens.input, state.totals.tokens.output) == totals
    assert state.agents["a"].tokens == state.totals.tokens
    spent = [step.tokens for step in state.steps.values() if step.counted and step.model and step.tokens]
    if "m" in state.models:
        assert state.models["m"].tokens.output == sum(tokens.output for tokens in spent)
    timeline = Timeline(MemorySource(made), every=2)
    start = fold([])
    for event in made:
        start = fold([event], start=start)
        assert start == timeline.at(event.seq)
    counted = stats(open_log(json.dumps({"lctl": "4.0", "events": [e.to_dict() for e in made]}).encode()))
    assert counted.tokens == state.totals.tokens
    assert {row.name: row.tokens for row in counted.agents} == {"a": counted.tokens}
