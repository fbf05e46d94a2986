"""Rows V1 to V6 of CONVERSATIONS.md section 4: what a view shows. Each test names its row."""

from __future__ import annotations

import pytest

from lctl.conversation.tree import Tree
from lctl.errors import BrokenChain, UsageError
from tests.unit.conversation.events import Log, chain, ids
from tests.unit.conversation.viewing import Desk, heard


def forked() -> Log:
    """u1 > a1 > u2 > a2, and a second answer to u1 with a conversation below it."""
    return chain("u1", "a1", "u2", "a2").say("b1", "u1", "assistant", fork_of="a1").say("u3", "b1")


def test_v1_a_view_is_one_path_and_what_the_model_read() -> None:
    tree = forked().tree
    view = tree.view()
    assert ids(view.nodes) == ["u1", "b1", "u3"] == ids(view.path)
    assert view.messages() == tree.transcript("u3")
    assert view.depth == 3
    assert len(view) == 3
    view.select("a1")
    assert ids(view.nodes) == ["u1", "a1", "u2", "a2"]
    assert view.messages() == tree.transcript("a2")


def test_v1_the_empty_tree_and_one_message() -> None:
    view = Tree.of([]).view()
    assert (view.nodes, view.path, view.messages(), view.depth, view.leaf) == ([], [], [], 0, None)
    assert not view.has_older
    assert view.load_older(5) == []
    assert "empty" in repr(view)
    assert ids(chain("u1").tree.view().nodes) == ["u1"]


def test_v1_first_messages_are_alternatives_too() -> None:
    view = chain("u1", "a1").say("u1b", None, fork_of="u1").say("a2", "u1b").tree.view()
    assert ids(view.nodes) == ["u1b", "a2"]
    assert view.siblings("u1b").ids == ["u1", "u1b"]
    view.previous("u1b")
    assert ids(view.nodes) == ["u1", "a1"]


def test_v1_each_conversation_has_its_own() -> None:
    log = chain("u1", "a1").say("x1", None, "user", conversation_id="x").say("x2", "x1", "assistant")
    nested = {"message_id": "a1", "tool_call_id": "c1"}
    tree = log.say("n1", None, "user", nested_in=nested).say("n2", "n1", "assistant").tree
    assert ids(tree.view().nodes) == ["u1", "a1"]
    assert ids(tree.view("x").nodes) == ["x1", "x2"]
    assert ids(tree.view("n1").nodes) == ["n1", "n2"]
    with pytest.raises(UsageError, match="conversation 'x'"):
        tree.view().select("x2")


def test_v1_the_default_is_the_path_to_the_last_message() -> None:
    """Of a1's two continuations the later one began earlier than the conversation's last message."""
    log = chain("u1", "a1", "u2").say("u2b", "a1", fork_of="u2").say("a2", "u2").say("u9", None)
    view = log.say("a3", "a2", "assistant").tree.view()
    assert ids(view.nodes) == ["u1", "a1", "u2", "a2", "a3"]
    view.select("u9")
    assert ids(view.nodes) == ["u9"]
    other = log.tree.view()
    other.select("u9")
    other.select("u1")
    assert ids(other.nodes) == ["u1", "a1", "u2", "a2", "a3"]


def test_v1_a_broken_path_is_shown_and_not_sent() -> None:
    desk = Desk(chain("u1").say("a2", "missing").say("u3", "a2"))
    view = desk.tree.view()
    told = heard(view)
    assert ids(view.nodes) == ["a2", "u3"]
    with pytest.raises(BrokenChain):
        view.messages()
    desk.say("missing", "u1", "user")
    assert ids(view.nodes) == ["u1", "missing", "a2", "u3"]
    assert told == [("history", ["u1", "missing"])]
    assert len(view.messages()) == 4


def test_v2_views_of_one_tree_are_independent() -> None:
    desk = Desk(forked())
    one, other = desk.tree.view(), desk.tree.view()
    one.select("a1")
    assert ids(one.nodes)[1] == "a1"
    assert ids(other.nodes)[1] == "b1"
    one.send("more")
    one.select("a2", durable=True)
    assert ids(other.nodes) == ["u1", "b1", "u3"]


def test_v2_a_hundred_views() -> None:
    desk = Desk(chain("u1"))
    for n in range(100):
        desk.say(f"a{n}", "u1")
    views = [desk.tree.view() for _ in range(100)]
    for n, view in enumerate(views):
        view.select(f"a{n}")
    desk.say("z", "a50", "user")
    assert [ids(view.nodes)[1:] for view in views] == [
        [f"a{n}", "z"] if n == 50 else [f"a{n}"] for n in range(100)
    ]


def test_v2_a_view_made_in_the_middle_of_a_stream() -> None:
    desk = Desk(chain("u1"))
    desk.emit("stream_start", {"message_id": "a1", "parent_id": "u1"})
    desk.emit("stream_chunk", {"message_id": "a1", "content": "He"})
    view = desk.tree.view()
    told = heard(view)
    desk.emit("stream_chunk", {"message_id": "a1", "content": "llo"})
    assert view.nodes[-1].text == "Hello"
    assert told == [("update", "a1")]


def test_v3_a_late_sibling_shifts_nothing() -> None:
    desk = Desk(chain("u1").say("a1", "u1", serial=5).say("a2", "u1", serial=7))
    view = desk.tree.view()
    view.select("a1")
    desk.say("a0", "u1", serial=1)
    assert ids(view.nodes) == ["u1", "a1"]
    assert tuple(view.siblings("a1")) == (["a0", "a1", "a2"], 1, 3)


def test_v3_a_selection_that_is_not_there() -> None:
    log = forked().add("view_select", view="main", message_id="gone")
    assert ids(log.tree.view().nodes) == ["u1", "b1", "u3"]
    view = log.tree.view()
    for act in (view.select, view.siblings, view.versions, view.next):
        with pytest.raises(UsageError, match="no message gone"):
            act("gone")


def test_v4_own_stays_and_counts() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.view()
    told = heard(view)
    desk.say("a2", "u1", fork_of="a1")
    assert ids(view.nodes) == ["u1", "a1"]
    assert view.siblings("a1").count == 2
    assert told == [("update", "a1")]


def test_v4_latest_goes_to_the_newest() -> None:
    desk = Desk(chain("u1", "a1", "u2"))
    view = desk.tree.view(follow="latest")
    desk.say("a2", "u1", fork_of="a1")
    assert ids(view.nodes) == ["u1", "a2"]
    desk.say("hidden", "a1", "user")
    assert ids(view.nodes) == ["u1", "a2"]
    desk.say("u1b", None, "user", fork_of="u1")
    assert ids(view.nodes) == ["u1b"]


def test_v4_pinned_stays_even_at_its_last_message() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.view(follow="pinned")
    told = heard(view)
    desk.say("u2", "a1", "user")
    desk.say("a1b", "u1", fork_of="a1")
    assert ids(view.nodes) == ["u1", "a1"]
    assert told == [("update", "a1")]
    view.send("mine", message_id="u3")
    assert ids(view.nodes) == ["u1", "a1", "u3"]


def test_v4_follow_is_one_of_three() -> None:
    with pytest.raises(UsageError, match="own, latest, pinned"):
        chain("u1").tree.view(follow="newest")  # type: ignore[arg-type]


def test_v5_every_fork_remembers() -> None:
    log = chain("u1", "a1", "u2").say("b1", "u1", "assistant").say("x", "b1").say("y", "b1").say("y2", "y")
    view = log.tree.view()
    view.select("x")
    view.select("a1")
    assert ids(view.nodes) == ["u1", "a1", "u2"]
    view.select("b1")
    assert ids(view.nodes) == ["u1", "b1", "x"]


def test_v5_a_deep_message_selects_all_above_it() -> None:
    view = forked().tree.view()
    view.select("a2")
    assert ids(view.nodes) == ["u1", "a1", "u2", "a2"]
    assert view.select("u1") is None


def test_v5_the_memory_is_in_the_log() -> None:
    log = chain("u1", "a1", "u2").say("b1", "u1", "assistant").say("x", "b1").say("y", "b1")
    desk = Desk(log)
    view = desk.tree.view()
    view.select("x", durable=True)
    view.select("a1", durable=True)
    again = Tree.of(desk.events).view()
    assert ids(again.nodes) == ["u1", "a1", "u2"]
    again.select("b1")
    assert ids(again.nodes) == ["u1", "b1", "x"]


def test_v6_siblings_and_versions() -> None:
    tree = chain("u1", "a1").say("a2", "u1", fork_of="a1").say("a3", "u1").tree
    view = tree.view()
    found, index, count = view.siblings("a2")
    assert (found, index, count) == (["a1", "a2", "a3"], 1, 3)
    assert ids(view.versions("a2")) == ["a1", "a2"]
    assert view.siblings("u1").count == 1
    assert ids(view.versions("u1")) == ["u1"]


def test_v6_next_and_previous_end_at_the_ends() -> None:
    view = chain("u1", "a1").say("a2", "u1").say("a3", "u1").tree.view()
    assert view.next("a3") is None
    view.previous("a3")
    assert ids(view.nodes) == ["u1", "a2"]
    view.previous("a1")
    assert ids(view.nodes) == ["u1", "a1"]
    change = view.next("a1")
    assert change is not None
    assert (change.keep, change.removed, change.added) == (1, ["a1"], ["a2"])
