"""Rows R5 to R9 of CONVERSATIONS.md section 4: transcripts, depth, and messages loaded when needed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lctl
from lctl.conversation.nodestore import LogNodes, NodeStore, StoredNode
from lctl.conversation.turns import parse_depth, render_depth
from lctl.errors import BrokenChain, LogError
from lctl.session import LCTLSession
from tests.unit.sessions.replying import HI, call, words


# -- R5, R6, R9 ------------------------------------------------------------------------------
class Shelf:
    """Nodes that last, in a dict; ids in `faulty` cannot be read or written now."""

    def __init__(self, nodes: list[StoredNode]) -> None:
        self.nodes = {node.id: node for node in nodes}
        self.faulty: set[str] = set()
        self.order: list[str] = []

    def load(self, id: str) -> StoredNode | None:
        if id in self.faulty:
            raise OSError(5, "Input/output error")
        return self.nodes.get(id)

    def save(self, node: StoredNode) -> None:
        if node.id in self.faulty:
            raise OSError(28, "No space left on device")
        self.nodes[node.id] = node
        self.order.append(node.id)


def line(count: int) -> list[StoredNode]:
    return [
        StoredNode(f"n{n}", f"n{n - 1}" if n else None, ({"content": n},) if n % 3 else ())
        for n in range(count)
    ]


@pytest.mark.parametrize("most", [1, 2, None])
def test_r5_r9_the_same_transcripts_whatever_the_bound(most: int | None) -> None:
    store = NodeStore(Shelf(line(50)), max_nodes=most)
    for leaf in (49, 0, 20, 49):
        expected = [n for n in range(leaf + 1) if n % 3]
        assert [one["content"] for one in store.transcript(f"n{leaf}")] == expected
    assert store.get("nobody") is None
    assert store.peak == (most or 50)
    assert store.loads == {1: 50 + 21 + 50 + 1, 2: 50 + 21 + 50 + 1, None: 50 + 1}[most]


@pytest.mark.parametrize("most", [1, 2, 7, None])
def test_r9_the_log_as_the_store(log: LCTLSession, most: int | None) -> None:
    turn = log.conversations.send("first", message_id="in0")
    for n in range(1, 6):
        turn.record(HI)
        turn = log.conversations.reply(to=f"in{n - 1}", text=f"more {n}", message_id=f"in{n}")
    store = NodeStore(LogNodes(log.tree), max_nodes=most)
    assert store.transcript("in5") == log.tree.transcript("in5")
    assert store.peak <= (most or 99) and store.loads == 12
    store.transcript("in5")
    assert store.loads == (12 if most is None else 24)
    read = NodeStore(LogNodes(lctl.load(log.path).tree), max_nodes=most)
    assert read.transcript("in5") == log.tree.transcript("in5") and read.peak <= (most or 99)


def test_r9_a_message_that_still_grows_is_read_each_time(log: LCTLSession) -> None:
    log.conversations.send("x", message_id="in1")
    store = NodeStore(LogNodes(log.tree))
    log.stream_start(message_id="a1", parent_id="in1", role="assistant")
    log.stream_chunk("He", message_id="a1")
    assert words(store.transcript("a1"))[-1] == "He"
    log.stream_chunk("llo", message_id="a1")
    assert words(store.transcript("a1"))[-1] == "Hello"


def test_r9_what_has_to_leave_is_written_first() -> None:
    shelf = Shelf([])
    store = NodeStore(shelf, max_nodes=2)
    for node in line(4):
        store.put(node)
    assert shelf.order == ["n0", "n1"] and len(store) == store.peak == 2
    assert [one["content"] for one in store.transcript("n3")] == [1, 2]
    assert sorted(shelf.order) == ["n0", "n1", "n2", "n3"]
    store.flush()
    assert store.saves == 4
    store.put(line(4)[3]._replace(messages=({"content": "new"},)))
    store.flush()
    assert shelf.nodes["n3"].messages == ({"content": "new"},)


def test_r9_what_cannot_be_written_is_kept() -> None:
    shelf = Shelf([])
    store = NodeStore(shelf, max_nodes=1)
    first, second = line(2)
    shelf.faulty = {"n0"}
    store.put(first)
    with pytest.raises(LogError, match=r"node n0 cannot be written .*No space left"):
        store.put(second)
    assert store.get("n0") == first
    shelf.faulty = set()
    store.put(second)
    assert shelf.nodes == {"n0": first}


def test_r6_r9_missing_is_told_from_unreadable() -> None:
    shelf = Shelf(line(10))
    del shelf.nodes["n4"]
    for most in (1, None):
        store = NodeStore(shelf, max_nodes=most)
        with pytest.raises(BrokenChain, match=r"n4 .* is not there") as broken:
            store.transcript("n9")
        assert broken.value.missing == "n4"
        assert [one["content"] for one in store.transcript("n9", strict=False)] == [5, 7, 8]
        shelf.faulty = {"n6"}
        store = NodeStore(shelf, max_nodes=most)
        for strict in (True, False):
            with pytest.raises(LogError, match="node n6 cannot be read"):
                store.transcript("n9", strict=strict)
        shelf.faulty = set()
        assert len(store.transcript("n9", strict=False)) == 3  # it was not taken for missing
    shelf.nodes["n5"] = StoredNode("n5", "n9", ())
    with pytest.raises(BrokenChain, match="its own ancestor"):
        NodeStore(shelf).transcript("n9")


def test_r5_r6_depth_one_and_a_missing_root(log: LCTLSession) -> None:
    log.conversations.system = None
    assert words(log.conversations.send("only").transcript()) == ["only"]
    log.emit("message", {"message_id": "u2", "parent_id": "gone", "role": "user", "content": "x"})
    turn = log.conversations.reply(to="u2", text="y")
    with pytest.raises(BrokenChain) as broken:
        turn.transcript()
    assert broken.value.missing == "gone" and words(turn.transcript(strict=False)) == ["x", "y"]


@pytest.mark.slow
def test_r5_a_million_messages_deep() -> None:
    store = NodeStore(Shelf(line(1_000_000)), max_nodes=10)
    assert len(store.transcript("n999999")) == sum(1 for n in range(1_000_000) if n % 3)


# -- R7, R8 ----------------------------------------------------------------------------------
def test_r7_depth_counts_user_and_assistant(log: LCTLSession) -> None:
    turn = log.conversations.send("first", message_id="in1")
    assert turn.depth == 1
    turn.record(call("c1"))
    assert turn.depth == 2
    turn.record({"role": "tool", "tool_call_id": "c1", "content": "r"})
    assert turn.depth == 2
    turn.record(HI)
    turn.alias("out1")
    assert turn.depth == log.tree["in1/3"].depth == 3 and log.tree["out1"].depth == 1
    log.emit(
        "message",
        {
            "role": "user",
            "content": "sub",
            "parent_id": None,
            "nested_in": {"message_id": "in1/1", "tool_call_id": "c1"},
        },
    )
    left = log.conversations.reply(to="in1", text="l")
    right = log.conversations.reply(to="in1", text="r")
    right.record(HI)
    assert (left.depth, right.depth) == (4, 5)
    for turn in (left, right):
        assert turn.depth == sum(one["role"] in ("user", "assistant") for one in turn.transcript())


@pytest.mark.parametrize("text", ["hello", "", "[depth:3] quoted", "[depth:x] y", "  [depth:1] z", "äö\n"])
def test_r8_the_prefix_goes_on_and_off(text: str) -> None:
    for depth in (0, 1, 12):
        assert parse_depth(render_depth(text, depth)) == (depth, text)
        assert parse_depth(render_depth([text, "second"], depth)) == (
            depth,
            [text, "second"] if text else ["second"],
        )
    part = {"type": "text", "text": text}
    assert parse_depth(render_depth([part], 2)) == (2, [part])


@pytest.mark.parametrize(
    "text", ["[depth:x] y", "[depth:-1] y", "[depth:01] y", "[depth:1]y", " [depth:1] y", "y", [], [3]]
)
def test_r8_what_is_no_prefix_stays(text: Any) -> None:
    assert parse_depth(text) == (None, text)


@given(st.text(), st.integers(0, 10**9))
def test_r8_any_text(text: str, depth: int) -> None:
    assert parse_depth(render_depth(text, depth)) == (depth, text)


def test_r8_inbound_text_comes_without_it_and_outbound_with_it(log: LCTLSession) -> None:
    turn = log.conversations.send("[depth:7] hello", message_id="in1")
    assert turn.messages == [{"role": "user", "content": "hello", "details": {"depth": 7}}]
    turn.record(HI)
    assert turn.render("Hi") == "[depth:2] Hi"
    assert turn.render([{"type": "image"}, {"type": "text", "text": "Hi"}])[1]["text"] == "[depth:2] Hi"
