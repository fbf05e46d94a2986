"""Facts with their history; streams; what is counted and passed over."""

from __future__ import annotations

from lctl.state.model import Stream
from lctl.state.reducer import fold
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
