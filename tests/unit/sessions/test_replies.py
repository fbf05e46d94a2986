"""Rows R1 to R4 and R10 to R13 of CONVERSATIONS.md section 4: reply chains. Each test names its row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.conversation.nodestore import LogNodes, NodeStore, StoredNode
from lctl.conversation.turns import tail_of, turn_of
from lctl.errors import BrokenChain, LogError, RecordingError, UsageError
from lctl.session import LCTLSession
from tests.unit.conversation.events import chain, ids
from tests.unit.sessions.dying import die
from tests.unit.sessions.replying import HI, call, words


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


def test_r13_an_edited_message_is_no_redelivery(log: LCTLSession) -> None:
    """Passed over, the agent would answer what was said before the edit. What the log holds of a secret is
    the same message, and so is the agent's own answer that comes back."""
    secret = "my key is sk-ant-api03-" + "abcdefgh" * 12
    turn = log.conversations.send(secret, message_id="in1")
    turn.record(HI)
    turn.alias("out1")
    for id, text in (("in1", secret), ("in1", f"[depth:0] {secret}"), ("out1", "Hi")):
        assert log.conversations.send(text, message_id=id).id == "in1"
    with pytest.raises(UsageError, match="message in1 is there and says something else"):
        log.conversations.send("another", message_id="in1")
    assert len(turn.nodes) == 2


def test_r13_messengers_whose_ids_are_numbers(log: LCTLSession) -> None:
    log.conversations.send("first", message_id=17).alias(18)
    again = log.conversations.reply(to=18, text="more", message_id=19)
    assert words(again.transcript()) == ["You are Lal.", "first", "more"]
    assert log.conversations.turn(19).id == again.id == "19"


def test_r13_a_policy_that_there_is_not(log: LCTLSession) -> None:
    with pytest.raises(UsageError, match="reply_policy='mine': it is one of known, own"):
        log.conversations.reply(to="x", text="y", reply_policy="mine")  # type: ignore[arg-type]


def test_r13_a_reply_to_a_message_that_was_not_finished(log: LCTLSession) -> None:
    turn = log.conversations.send("x", message_id="in1")
    log.stream_start(message_id="a1", parent_id="in1", role="assistant", turn_id="in1")
    log.stream_chunk("He", message_id="a1")
    log.stream_end(message_id="a1", status="aborted")
    reply = log.conversations.reply(to="a1", text="go on", message_id="in2")
    assert reply.tail.parent is not None and reply.tail.parent.id == "a1"
    assert words(reply.transcript())[1:] == ["x", "He", "go on"]
    assert turn.tail.status == "aborted"
