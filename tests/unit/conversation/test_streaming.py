"""Rows M of CONVERSATIONS.md section 4: messages that are streamed. Each test names its row."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lctl
from lctl import LCTLSession
from lctl.conversation.tree import Tree
from tests.unit.conversation.events import Log, chain, codes, ids, lines_run


def streamed(*pieces: Any, id: str = "a1", end: bool = True, **start: Any) -> Log:
    """u1, and an answer to it of these pieces, numbered."""
    log = chain("u1").add("stream_start", message_id=id, **{"parent_id": "u1", "role": "assistant"} | start)
    for index, piece in enumerate(pieces):
        log.add("stream_chunk", message_id=id, index=index, content=piece)
    return log.add("stream_end", message_id=id, total_chunks=len(pieces)) if end else log


def test_m1_a_start_pieces_and_an_end_are_one_message() -> None:
    tree = streamed("He", "llo").tree
    assert ids(tree) == ["u1", "a1"]
    assert (tree["a1"].text, tree["a1"].status) == ("Hello", "complete")
    assert tree["a1"].message == {"role": "assistant", "content": "Hello"}
    assert codes(tree) == []


def test_m1_at_any_seq_it_says_what_had_come() -> None:
    tree = streamed("He", "llo").tree
    assert [tree.at(seq)["a1"].text for seq in range(2, 6)] == ["", "He", "Hello", "Hello"]
    assert [tree.at(seq)["a1"].status for seq in range(2, 6)] == ["streaming"] * 3 + ["complete"]
    assert "a1" not in tree.at(1)


def test_m1_what_the_start_says_of_the_message_stays() -> None:
    tree = streamed("x", name="poet", turn_id="t1", expected_chunks=1, stream_id="s").tree
    assert tree["a1"].message == {"role": "assistant", "name": "poet", "content": "x"}
    assert ids(tree.turn("t1")) == ["a1"]


def test_m1_a_message_may_be_opened_by_a_message() -> None:
    log = chain("u1").say("a1", "u1", content="He", status="streaming")
    log.add("stream_chunk", message_id="a1", index=0, content="llo").add("stream_end", message_id="a1")
    tree = log.tree
    assert [tree.at(seq)["a1"].text for seq in (2, 3, 4)] == ["He", "Hello", "Hello"]
    assert codes(tree) == []


def test_m2_a_piece_again_is_passed_over_and_an_early_one_waits() -> None:
    log = chain("u1").add("stream_start", message_id="a1", parent_id="u1")
    for index, piece in [(0, "H"), (2, "l"), (1, "e"), (1, "e"), (0, "H")]:
        log.add("stream_chunk", message_id="a1", index=index, content=piece)
    tree = log.tree
    assert tree["a1"].text == "Hel"
    assert [tree.at(seq)["a1"].text for seq in (3, 4, 5)] == ["H", "Hl", "Hel"]
    assert tree.forest.repeats == 2


def test_m2_a_gap_is_said() -> None:
    log = chain("u1").add("stream_start", message_id="a1", parent_id="u1")
    log.add("stream_chunk", message_id="a1", index=0, content="a")
    log.add("stream_chunk", message_id="a1", index=2, content="c")
    tree = log.add("stream_end", message_id="a1").tree
    assert tree["a1"].text == "ac"
    assert codes(tree) == ["stream_gap"]
    assert "2 of 3" in tree.diagnostics[0].text


def test_m2_a_connection_made_again_says_nothing_twice() -> None:
    log = streamed("He", end=False).add("stream_start", message_id="a1", parent_id="u1")
    for index, piece in enumerate(["He", "llo"]):
        log.add("stream_chunk", message_id="a1", index=index, content=piece)
    tree = log.add("stream_end", message_id="a1", total_chunks=2).tree
    assert tree["a1"].text == "Hello"
    assert codes(tree) == []


def test_m2_no_pieces_at_all() -> None:
    tree = streamed().tree
    assert (tree["a1"].text, tree["a1"].status) == ("", "complete")
    assert codes(tree) == []


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_m2_any_order_of_pieces_is_the_same_text(r: random.Random) -> None:
    pieces = [str(n) for n in range(r.randint(1, 12))]
    log = chain("u1").add("stream_start", message_id="a1", parent_id="u1")
    order = [*range(len(pieces)), *r.choices(range(len(pieces)), k=3)]
    r.shuffle(order)
    for index in order:
        log.add("stream_chunk", message_id="a1", index=index, content=pieces[index])
    tree = log.add("stream_end", message_id="a1", total_chunks=len(pieces)).tree
    assert tree["a1"].text == "".join(pieces)
    assert codes(tree) == []
    for seq in range(2, len(log.events) + 1):
        assert tree.at(seq)["a1"].text == Tree.of(log.events[:seq])["a1"].text


@pytest.mark.parametrize("ended", [False, True])
def test_m3_the_whole_message_stands(ended: bool) -> None:
    log = streamed("He", "lo", end=ended).say("a1", "u1", content="Hello", name="poet", sampled=True)
    tree = log.tree
    assert tree["a1"].message == {"role": "assistant", "content": "Hello", "name": "poet"}
    assert (tree["a1"].status, tree["a1"].sampled) == ("complete", True)
    assert tree.at(4)["a1"].text == "Helo"
    assert not tree.at(4)["a1"].sampled
    assert codes(tree) == ["stream_gap"]
    assert "something else" in tree.diagnostics[0].text
    assert codes(log.say("a1", "u1", content="Hello", name="poet", sampled=True).tree) == ["stream_gap"]
    assert codes(log.say("a1", "u1", content="again").tree) == ["stream_gap", "msg_conflict"]


def test_m3_what_agrees_is_no_finding() -> None:
    assert codes(streamed("He", "llo", end=False).say("a1", "u1", content="Hello").tree) == []
    log = streamed("Hello").say("a1", "u1", "assistant", content=None, status="complete")
    tree = log.tree
    assert (tree["a1"].text, codes(tree), tree.forest.repeats) == ("Hello", [], 1)


def test_m3_too_few_pieces_are_said() -> None:
    tree = streamed("a", "b", end=False).add("stream_end", message_id="a1", total_chunks=3).tree
    assert codes(tree) == ["stream_gap"]
    assert "2 of 3" in tree.diagnostics[0].text


@pytest.mark.parametrize("status", ["aborted", "error"])
def test_m4_what_was_aborted_keeps_its_text_and_is_not_sent(status: str) -> None:
    log = streamed("half", end=False).add("stream_end", message_id="a1", status=status)
    tree = log.tree
    assert (tree["a1"].text, tree["a1"].status) == ("half", status)
    assert tree.view().messages() == [{"role": "user", "content": "u1"}]
    assert codes(log.say("a1", "u1", content="whole").tree) == ["msg_conflict"]


def test_m4_a_stream_that_never_ended_is_pending(tmp_path: Path) -> None:
    path = tmp_path / "run.lctl.json"
    with LCTLSession(path=path) as session:
        session.stream_start(message_id="a1", parent_id=None, role="assistant")
        session.stream_chunk("half")
        assert ids(session.tree.pending) == ["a1"]
    tree = lctl.load(path).tree
    assert ids(tree.pending) == ["a1"]
    assert (tree["a1"].text, tree["a1"].status) == ("half", "streaming")
    assert streamed("x").tree.pending == []


@pytest.mark.parametrize("count", [2, 50])
def test_m5_streams_at_the_same_time_are_told_apart(count: int) -> None:
    log = chain("u1")
    r = random.Random(count)
    names = [f"a{n}" for n in range(count)]
    for name in names:
        log.add("stream_start", message_id=name, parent_id="u1")
    steps = [name for name in names for _ in range(4)]
    r.shuffle(steps)
    for name in steps:
        log.add("stream_chunk", message_id=name, content=f"{name} ")
    tree = log.tree
    assert [tree[name].text for name in names] == [f"{name} " * 4 for name in names]
    assert len(tree["u1"].children) == count


def test_m5_a_piece_without_id_is_of_its_agents_newest_open_stream() -> None:
    log = chain("u1")
    for agent, id in [("x", "a1"), ("y", "b1"), ("x", "a2")]:
        log.add("stream_start", agent, message_id=id, parent_id="u1")
    log.add("stream_chunk", "x", content="2").add("stream_chunk", "y", content="y")
    log.add("stream_end", "x").add("stream_chunk", "x", content="1").add("stream_end", "x")
    tree = log.add("stream_chunk", "x", content="?").tree
    assert [tree[id].text for id in ("a1", "a2", "b1")] == ["1", "2", "y"]
    assert [tree[id].status for id in ("a1", "a2", "b1")] == ["complete", "complete", "streaming"]
    assert codes(tree) == ["stream_gap"]


def test_m5_a_stream_of_no_message_takes_its_own_pieces() -> None:
    log = chain("u1").add("stream_start", message_id="a1", parent_id="u1").add("stream_start")
    log.add("stream_chunk", content="noise").add("stream_end").add("stream_chunk", content="a1's")
    tree = log.add("stream_end").tree
    assert (tree["a1"].text, tree["a1"].status) == ("a1's", "complete")
    assert codes(tree) == []


def test_m5_pieces_name_their_stream_as_its_start_does() -> None:
    log = chain("u1").add("stream_start", message_id="a1", parent_id="u1", stream_id="one")
    log.add("stream_start", message_id="a2", parent_id="u1", stream_id="two")
    log.add("stream_chunk", stream_id="one", content="1").add("stream_chunk", stream_id="two", content="2")
    tree = log.add("stream_end", "other agent", stream_id="one").tree
    assert [tree[id].text for id in ("a1", "a2")] == ["1", "2"]
    assert ids(tree.pending) == ["a2"]


def test_m5_pieces_name_their_stream_by_its_seq(tmp_path: Path) -> None:
    with LCTLSession(path=tmp_path / "run.lctl.json") as session:
        one = session.stream_start(message_id="a1", parent_id=None)
        other = session.stream_start(message_id="b1", parent_id=None)
        session.stream_chunk("1", stream=one)
        session.stream_chunk("2", stream=other)
        session.stream_end(stream=one)
        tree = session.tree
        assert [(tree[id].text, tree[id].status) for id in ("a1", "b1")] == [
            ("1", "complete"),
            ("2", "streaming"),
        ]


def test_m6_pieces_before_the_start() -> None:
    log = chain("u1").add("stream_chunk", message_id="a1", index=0, content="He")
    before = log.tree
    assert (before["a1"].text, before["a1"].role, before["a1"].status) == ("He", "", "streaming")
    assert ids(before.orphans) == ["a1"]
    log.add("stream_start", message_id="a1", parent_id="u1", role="assistant", turn_id="t1")
    log.add("stream_chunk", message_id="a1", index=1, content="llo").add("stream_end", message_id="a1")
    tree = log.tree
    assert ids(tree.path("a1")) == ["u1", "a1"]
    assert (tree["a1"].text, tree["a1"].role) == ("Hello", "assistant")
    assert ids(tree.turn("t1")) == ["a1"]
    tip = tree.tip()
    assert tip is not None
    assert tip.id == "a1"
    assert tree.at(2).state_hash() == before.state_hash()


@pytest.mark.parametrize("place", [{}, {"parent_id": "u1"}, {"parent_id": None}])
def test_m6_the_start_says_where_it_belongs(place: dict[str, Any]) -> None:
    """Also by saying nothing: after what came last."""
    log = chain("u1").add("stream_chunk", message_id="a1", content="x")
    tree = log.add("stream_start", message_id="a1", fork_of="a0", **place).tree
    assert ids(tree.path("a1")) == (["a1"] if place.get("parent_id", "") is None else ["u1", "a1"])
    assert tree["a1"].role == "assistant"


def test_m6_what_hangs_on_pieces_is_attached() -> None:
    log = chain("u1").say("u2", "a1").add("stream_chunk", message_id="a1", content="x")
    tree = log.say("u3", "a1").add("stream_start", message_id="a1").tree
    assert ids(tree["a1"].children) == ["u2", "u3"]
    assert ids(tree.path("u3"))[-2:] == ["a1", "u3"]
    assert codes(tree) == []


def test_m6_a_start_that_never_comes() -> None:
    tree = chain("u1").add("stream_chunk", message_id="a1", content="x").tree
    tree.append({"seq": 3, "type": "stream_end", "data": {"message_id": "a1"}})
    assert (tree["a1"].text, tree["a1"].role, tree["a1"].status) == ("x", "", "complete")
    assert tree.view().messages() == [{"role": "user", "content": "u1"}]


def test_m7_many_pieces_cost_no_more_each() -> None:
    """Counted in lines run: ten times the pieces are ten times the work."""
    few, many = _lines(1_000), _lines(10_000)
    assert many <= few * 10.5


def test_m7_a_hundred_thousand_pieces_are_joined_once() -> None:
    tree = streamed(*("word " for _ in range(100_000))).tree
    assert len(tree["a1"].text) == 500_000
    assert len(tree.at(50_002)["a1"].text) == 250_000


def _lines(pieces: int) -> int:
    events = streamed(*("x" for _ in range(pieces))).events
    text, lines = lines_run(lambda: Tree.of(events)["a1"].text)
    assert text == "x" * pieces
    return lines


def test_m7_tool_calls_come_in_pieces() -> None:
    log = chain("u1").add("stream_start", message_id="a1", parent_id="u1")
    deltas: list[dict[str, Any]] = [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"at":'}},
        {"index": 1, "id": "c2", "type": "function", "function": {"name": "go", "arguments": "{}"}},
        {"index": 0, "function": {"arguments": " 1}"}},
    ]
    for n, delta in enumerate(deltas):
        log.add("stream_chunk", message_id="a1", index=n, tool_calls=[delta])
    tree = log.add("stream_end", message_id="a1").tree
    assert tree["a1"].message == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}},
            {"id": "c2", "type": "function", "function": {"name": "go", "arguments": "{}"}},
        ],
    }
    assert deltas[0]["function"]["arguments"] == ""


def test_m7_content_parts_come_in_pieces() -> None:
    image = {"type": "image", "url": "x"}
    tree = streamed([{"type": "text", "text": "He"}], [{"type": "text", "text": "llo"}], [image]).tree
    assert tree["a1"].message["content"] == [{"type": "text", "text": "Hello"}, image]
    assert tree["a1"].text == "Hello"
