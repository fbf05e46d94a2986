"""Rows R1 to R13 of CONVERSATIONS.md section 4: reply chains. Each test names its row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lctl
from lctl.conversation.nodestore import LogNodes, NodeStore, StoredNode
from lctl.conversation.turns import parse_depth, render_depth, tail_of, turn_of
from lctl.errors import BrokenChain, LogError, RecordingError
from lctl.session import LCTLSession
from tests.unit.conversation.events import chain, ids
from tests.unit.sessions.dying import die

HI = {"role": "assistant", "content": "Hi"}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LCTLSession]:
    with LCTLSession(path=tmp_path / "mail.lctl.json") as session:
        session.conversations.system = "You are Lal."
        yield session


def words(messages: list[dict[str, Any]]) -> list[Any]:
    return [one["content"] for one in messages]


def call(id: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }


# -- R1, R2, R3 ------------------------------------------------------------------------------


def test_r1_a_reply_goes_on_with_that_conversation_only(log: LCTLSession) -> None:
    one = log.conversations.send("first", message_id="in1")
    one.record(HI)
    log.conversations.send("unrelated", message_id="in2").record(HI)
    again = log.conversations.reply(to="in1", text="more", message_id="in3")
    assert words(again.transcript()) == ["You are Lal.", "first", "Hi", "more"]
    assert again.conversation == one.conversation != log.conversations.turn("in2").conversation


def test_r1_a_reply_to_any_message_of_a_turn_comes_after_its_last_one(log: LCTLSession) -> None:
    turn = log.conversations.send("go", message_id="in1")
    turn.record(call("c1"), {"role": "tool", "tool_call_id": "c1", "content": "r"}, HI)
    for n, node in enumerate(turn.nodes):
        reply = log.conversations.reply(to=node.id, text="more", message_id=f"r{n}")
        assert reply.transcript()[:-1] == turn.transcript()


def test_r2_what_replies_to_nothing_known_begins_a_conversation(log: LCTLSession) -> None:
    alone = log.conversations.send("x", message_id="in1")
    lost = log.conversations.reply(to="nobody", text="y", message_id="in2")
    assert words(lost.transcript()) == ["You are Lal.", "y"]
    assert (alone.unresolved, lost.unresolved) == (None, "nobody")
    assert lost.nodes[0].data["details"] == {"reply_to_unresolved": "nobody"}
    assert len(log.tree.roots) == 2


def test_r2_without_a_system_prompt_the_message_is_the_root(log: LCTLSession) -> None:
    log.conversations.system = None
    assert words(log.conversations.send("x").transcript()) == ["x"]


def test_r2_a_log_that_cannot_be_written_is_no_new_conversation(tmp_path: Path) -> None:
    session = LCTLSession(path=tmp_path / "x.lctl.json")
    chains = session.conversations
    chains.send("first", message_id="in1").record(HI)
    session.close()
    with pytest.raises(RecordingError):
        chains.reply(to="in1", text="more", message_id="in2")


def test_r2_a_store_that_cannot_be_read_is_no_missing_node(log: LCTLSession) -> None:
    class Broken(LogNodes):
        def load(self, id: str) -> StoredNode | None:
            raise OSError(5, "Input/output error")

    turn = log.conversations.send("first")
    log.conversations.store = NodeStore(Broken(log.tree))
    with pytest.raises(LogError, match="Input/output error") as raised:
        turn.transcript()
    assert not isinstance(raised.value, BrokenChain)


def test_r2_own_policy_goes_on_only_with_what_the_agent_sent(log: LCTLSession) -> None:
    chains = log.conversations
    chains.reply_policy = "own"
    turn = chains.send("first", message_id="in1")
    answer = turn.record(HI)
    turn.alias("out1")
    assert chains.reply(to="in1", text="a", message_id="r1").unresolved == "in1"
    for n, to in enumerate(["out1", answer.id]):
        assert words(chains.reply(to=to, text="b", message_id=f"s{n}").transcript())[-2:] == ["Hi", "b"]
    assert chains.reply(to="in1", text="c", reply_policy="known").unresolved is None


def test_r3_branches_share_what_came_before(log: LCTLSession) -> None:
    turn = log.conversations.send("first", message_id="in1")
    turn.record(HI)
    before = len(log.tree)
    one = log.conversations.reply(to="in1", text="left", message_id="l")
    other = log.conversations.reply(to="in1", text="right", message_id="r")
    assert len(log.tree) == before + 2
    assert one.tail.path[:-1] == other.tail.path[:-1]
    assert ids(log.tree.leaves) == ["l", "r"]


def test_r3_many_replies_to_one_message(log: LCTLSession) -> None:
    log.conversations.send("first", message_id="in1").record(HI)
    for n in range(300):
        log.conversations.reply(to="in1", text="x", message_id=f"r{n}")
    assert len(log.tree["in1/1"].children) == 300
    assert all(node.depth == 3 for node in log.tree["in1/1"].children)


# -- R4 --------------------------------------------------------------------------------------


def test_r4_a_reply_to_the_outbound_id_is_one_to_the_turn(log: LCTLSession) -> None:
    turn = log.conversations.send("first", message_id="in1")
    turn.record(HI)
    count = len(log.tree)
    assert turn.alias("out1") and not turn.alias("out1")
    assert len(log.tree) == count
    one = log.conversations.reply(to="in1", text="x", message_id="a")
    other = log.conversations.reply(to="out1", text="x", message_id="b")
    assert one.transcript() == other.transcript()
    assert log.conversations.turn("out1").id == "in1"


def test_r4_an_alias_may_come_first_and_stand_for_an_alias(log: LCTLSession) -> None:
    log.alias("out2", "out1")
    log.alias("out1", "in1")
    turn = log.conversations.send("first", message_id="in1")
    turn.record(HI)
    assert words(log.conversations.reply(to="out2", text="x").transcript())[1:] == ["first", "Hi", "x"]
    assert log.tree.diagnostics == []


def test_r4_aliases_that_contradict(log: LCTLSession) -> None:
    for id in ("in1", "in2"):
        log.conversations.send("x", message_id=id)
    log.alias("out", "in1")
    log.alias("out", "in2")
    log.alias("in1", "in2")
    log.alias("a", "b")
    log.alias("b", "a")
    assert [note.code for note in log.tree.diagnostics] == ["alias_conflict"] * 3
    assert log.conversations.turn("out").id == "in1" and log.conversations.turn("in1").id == "in1"
    assert log.conversations.reply(to="a", text="x").unresolved == "a"


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


# -- R10, R11 --------------------------------------------------------------------------------

INBOX = [
    ("in1", None, "first"),
    ("in2", "out-in1", "second"),
    ("in3", "out-in1", "other"),
    ("in4", "nobody", "lost"),
]


def work(path: Path) -> LCTLSession:
    """An agent that answers its inbox: a tool call, its result, an answer. Runs again from the beginning."""
    log = LCTLSession(path=path)
    log.conversations.system = "You are Lal."
    for id, to, text in INBOX:
        turn = log.conversations.reply(to=to, text=text, message_id=id)
        while not turn.done:
            if turn.tail.role == "tool":
                turn.record({"role": "assistant", "content": f"answer to {text}"})
            elif turn.pending:
                turn.record({"role": "tool", "tool_call_id": f"c-{id}", "content": "r"})
            else:
                turn.record(call(f"c-{id}"))
        turn.alias(f"out-{id}")
    return log


def told(log: LCTLSession) -> dict[str, Any]:
    return {node.id: (words([n.message for n in node.path]), node.depth) for node in log.tree} | {
        alias: (log.tree[alias].id, 0) for alias in log.tree.forest.aliases
    }


def test_r10_what_cannot_be_recorded_is_said(tmp_path: Path) -> None:
    session = LCTLSession(path=tmp_path / "x.lctl.json")
    turn = session.conversations.send("x", message_id="in1")
    session.close()
    with pytest.raises(RecordingError, match="in1/1 could not be recorded"):
        turn.record(HI)


def test_r10_killed_after_any_event_and_run_again_nothing_is_doubled(tmp_path: Path) -> None:
    whole = tmp_path / "whole.lctl.json"
    done = work(whole)
    expected = told(done)
    die(done)
    lines = whole.read_bytes().split(b"\n")
    for kept in range(1, len(lines)):
        for torn in (b"", lines[kept][:25]):
            path = tmp_path / f"{kept}-{len(torn)}.lctl.json"
            path.write_bytes(b"\n".join([*lines[:kept], torn]))
            reloaded = lctl.load(path)
            assert set(reloaded.tree.forest.ids) <= set(expected)
            for node in reloaded.tree:
                assert words([n.message for n in node.path]) == expected[node.id][0]
            log = work(path)
            assert told(log) == expected
            assert log.tree.diagnostics == []
            assert log.last_seq == len(lines) - 1
            log.close()


def test_r11_dismissing_a_message_leaves_the_tree(log: LCTLSession) -> None:
    turn = log.conversations.send("first", message_id="in1")
    turn.record(HI)
    before = log.tree.state_hash()
    log.emit("inbox_dismissed", {"message_id": "in1"})
    assert log.tree.state_hash() == before
    assert words(log.conversations.reply(to="in1", text="x").transcript())[1:] == ["first", "Hi", "x"]


# -- R12, R13 --------------------------------------------------------------------------------


def test_r12_a_turn_is_a_message_and_all_that_answers_it(log: LCTLSession) -> None:
    turn = log.conversations.send("go", message_id="in1")
    turn.record(call("c1"), {"role": "tool", "tool_call_id": "c1", "content": "r"})
    assert ids(turn.nodes) == ["in1", "in1/1", "in1/2"] and turn.tail.id == "in1/2" and not turn.done
    turn.record(HI)
    assert turn.done
    for node in turn.nodes:
        assert ids(turn_of(log.tree, node.id)) == ids(turn.nodes)


def test_r12_in_logs_without_turn_ids() -> None:
    tree = chain("s1", "u1", "a1", "t1", "a2", "u2", "a3").tree
    for id in ("u1", "a1", "t1", "a2"):
        assert ids(turn_of(tree, id)) == ["u1", "a1", "t1", "a2"]
    assert tail_of(tree, "u2").id == "a3" and tail_of(tree, "s1").id == "s1"
    assert ids(turn_of(chain("a1", "a2").tree, "a2")) == ["a1", "a2"]
    again = chain("u1", "a1").say("a2", "u1", fork_of="a1").tree
    assert tail_of(again, "u1").id == "a2"


def test_r12_a_turn_left_in_the_middle_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "left.lctl.json"
    log = LCTLSession(path=path)
    turn = log.conversations.send("go", message_id="in1")
    turn.record(call("c1"))
    log.close()
    with LCTLSession(path=path) as log:
        turn = log.conversations.turn("in1")
        assert [one["id"] for one in turn.pending] == ["c1"] and not turn.done
        turn.record({"role": "tool", "tool_call_id": "c1", "content": "r"}, HI)
        assert turn.done and len(turn.nodes) == 4


def test_r12_two_turns_on_one_message_at_once(log: LCTLSession) -> None:
    log.conversations.send("go", message_id="in1").record(HI)
    one = log.conversations.reply(to="in1", text="l", message_id="l")
    other = log.conversations.reply(to="in1", text="r", message_id="r")
    for n in range(3):
        one.record({"role": "assistant", "content": f"l{n}"})
        other.record({"role": "assistant", "content": f"r{n}"})
    assert words(one.transcript())[3:] == ["l", "l0", "l1", "l2"]
    assert words(other.transcript())[3:] == ["r", "r0", "r1", "r2"]


def test_r13_reply_has_a_parent_and_send_has_none(log: LCTLSession) -> None:
    log.conversations.system = None
    log.conversations.send("x", message_id="in1")
    log.conversations.reply(to="in1", text="y", message_id="in2", role="assistant", name="lal")
    told = [event.data for event in lctl.Chain.from_dict(log.to_dict()).events]
    assert [(one["parent_id"], one["turn_id"], one["conversation_id"]) for one in told] == [
        (None, "in1", "in1"),
        ("in1", "in2", "in1"),
    ]
    assert (told[1]["role"], told[1]["name"]) == ("assistant", "lal")


def test_r13_the_same_message_again_is_the_same_turn(log: LCTLSession) -> None:
    first = log.conversations.send("x", message_id="in1")
    count = log.last_seq
    again = log.conversations.reply(to="elsewhere", text="x", message_id="in1")
    assert again.id == first.id and log.last_seq == count
    assert repr(again) == "<ReplyTurn in1, depth 1>"


def test_r13_a_reply_to_a_message_that_was_not_finished(log: LCTLSession) -> None:
    turn = log.conversations.send("x", message_id="in1")
    log.stream_start(message_id="a1", parent_id="in1", role="assistant", turn_id="in1")
    log.stream_chunk("He", message_id="a1")
    log.stream_end(message_id="a1", status="aborted")
    reply = log.conversations.reply(to="a1", text="go on", message_id="in2")
    assert reply.tail.parent is not None and reply.tail.parent.id == "a1"
    assert words(reply.transcript())[1:] == ["x", "He", "go on"]
    assert turn.tail.status == "aborted"
