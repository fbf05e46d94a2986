"""Rows T of CONVERSATIONS.md section 4: the tree. Each test names its row."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.conversation.tree import Tree
from lctl.errors import BrokenChain, UsageError
from tests.seeds import seeds, tries
from tests.unit.conversation.events import Events, Log, chain, codes, history, ids


def test_t1_every_message_is_a_node() -> None:
    tree = chain("s1", "u1", "a1").tree
    assert len(tree) == 3
    assert tree["u1"].text == "u1"
    assert "nobody" not in tree
    with pytest.raises(KeyError):
        tree["nobody"]


def test_t1_a_delivery_repeated_changes_nothing() -> None:
    log = chain("u1", "a1").say("u1", None)
    tree = log.tree
    assert len(tree) == 2
    assert tree.forest.repeats == 1
    assert codes(tree) == []


def test_t1_of_two_contents_the_first_stands() -> None:
    tree = chain("u1").say("u1", None, content="other").tree
    assert tree["u1"].text == "u1"
    assert codes(tree) == ["msg_conflict"]


def test_t1_a_message_without_an_id_is_named_by_its_seq() -> None:
    tree = chain("u1").say(None, "u1", content="x").tree
    assert ids(tree.path("#2")) == ["u1", "#2"]


def test_t2_the_place_is_the_parent() -> None:
    assert ids(chain("u1", "a1", "u2").tree.path("u2")) == ["u1", "a1", "u2"]


def test_t2_no_parent_key_goes_on_null_begins() -> None:
    tree = Log().say("u1").say("a1").say("u2", None).say("a2").tree
    assert ids(tree.path("a1")) == ["u1", "a1"]
    assert ids(tree.path("a2")) == ["u2", "a2"]
    assert ids(tree.roots) == ["u1", "u2"]


def test_t2_conversations_stay_apart() -> None:
    log = Log()
    for n in range(3):
        log.say(f"u{n}", conversation_id="x").say(f"a{n}", conversation_id="y")
    tree = log.tree
    assert tree.conversations == ["x", "y"]
    assert [ids(tip.path) for tip in map(tree.tip, ("x", "y")) if tip] == [
        ["u0", "u1", "u2"],
        ["a0", "a1", "a2"],
    ]


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_t3_any_arrival_is_the_same_tree(r: random.Random) -> None:
    _check_arrivals(r)


@pytest.mark.slow
def test_t3_any_arrival_ten_thousand_times() -> None:
    for seed in seeds(0, 10_000):
        _check_arrivals(random.Random(seed))


def _check_arrivals(r: random.Random) -> None:
    log = Log()
    names = [f"m{n}" for n in range(r.randint(1, 30))]
    for n, name in enumerate(names):
        parent = None if n == 0 else names[r.randrange(n)]
        log.say(name, parent, role=r.choice(["user", "assistant"]), serial=n)
    first = log.tree
    shuffled = Log()
    for event in r.sample(log.events, len(log.events)):
        shuffled.add(event["type"], **event["data"])
    assert shuffled.tree.state_hash() == first.state_hash()
    assert codes(shuffled.tree) == []


@pytest.mark.slow
def test_t3_a_long_chain_backwards() -> None:
    log = Log()
    for n in reversed(range(100_000)):
        log.say(f"u{n}", f"u{n - 1}" if n else None)
    tree = log.tree
    assert len(tree.way(tree["u99999"].number)) == 100_000
    assert tree["u99999"].depth == 100_000
    assert tree.at(50_000)["u99999"].parent is not None


def test_t4_an_unknown_parent_is_an_error_with_what_there_is() -> None:
    log = chain("u1").say("a2", "u2").say("u3", "a2")
    tree = log.tree
    with pytest.raises(BrokenChain) as broken:
        tree.path("u3")
    assert broken.value.missing == "u2"
    assert ids(broken.value.partial) == ["a2", "u3"]
    assert ids(tree.path("u3", strict=False)) == ["a2", "u3"]
    assert not tree.is_complete("u3")
    later = log.say("u2", "u1").tree
    assert ids(later.path("u3")) == ["u1", "u2", "a2", "u3"]
    assert later.is_complete("u3")
    assert not later.at(3).is_complete("u3")
    assert ids(later.at(3).orphans) == ["a2"]
    with pytest.raises(UsageError):
        tree.path("nobody")


@pytest.mark.parametrize("length", [1, 2, 3])
def test_t5_circles_end(length: int) -> None:
    log = chain("u0")
    names = [f"m{n}" for n in range(length)]
    for n, name in enumerate(names):
        log.say(name, names[(n + 1) % length])
    log.say("below", "m0")
    tree = log.tree
    assert codes(tree) == ["msg_cycle"]
    assert ids(tree.roots) == ["u0"]
    for name in (*names, "below"):
        with pytest.raises(BrokenChain):
            tree.path(name)
        assert len(tree.path(name, strict=False)) >= 1
        assert tree[name].depth >= 1
        assert tree[name].siblings
    assert tree.state_hash() == log.tree.state_hash()


def test_t5_circles_by_alias_fork_and_carry() -> None:
    log = Log().say("m1", "x").add("message_alias", alias="x", message_id="m1")
    assert codes(log.tree) == ["msg_cycle"]
    forks = (
        Log().say("a1", None, fork_of="a2").say("a2", None, fork_of="a1").say("a3", None, fork_of="a3").tree
    )
    assert ids(forks["a1"].versions) == ["a1", "a2"]
    copies = chain("u1").say("u2", "u1", copy_of="u3").say("u3", "u1", copy_of="u2", carry=["u3", "u3"]).tree
    assert set(codes(copies)) == {"bad_carry"}
    assert copies["u3"].message["content"] == "u3"


def test_t6_serials_order_siblings() -> None:
    log = chain("u1").say("a5", "u1", serial="005").say("a3", "u1", serial="003").say("a0", "u1")
    assert ids(log.tree["u1"].children) == ["a3", "a5", "a0"]
    log.say("a0", "u1", serial="001")
    tree = log.tree
    assert ids(tree["u1"].children) == ["a0", "a3", "a5"]
    assert ids(tree.at(4)["u1"].children) == ["a3", "a5", "a0"]
    log.say("a0", "u1", serial=None).say("a0", "u1", serial="009")
    assert ids(log.tree["u1"].children) == ["a0", "a3", "a5"]


def test_t6_equal_serials_by_seq() -> None:
    tree = chain("u1").say("a1", "u1", serial=1).say("a2", "u1", serial=1).tree
    assert ids(tree["u1"].children) == ["a1", "a2"]


def test_t7_a_regenerated_answer_is_a_sibling() -> None:
    tree = chain("u1", "a1").say("a2", "u1", fork_of="a1").tree
    assert ids(tree["u1"].children) == ["a1", "a2"]
    tip = tree.tip()
    assert tip is not None
    assert tip.id == "a2"
    assert ids(tree.path("a1")) == ["u1", "a1"]


def test_t8_versions_of_versions() -> None:
    tree = chain("u1", "a1").say("a2", "u1", fork_of="a1").say("a3", "u1", fork_of="a2").tree
    assert ids(tree["a1"].versions) == ["a1", "a2", "a3"]
    assert tree["a3"].version == 2


def test_t8_ten_thousand_versions_are_no_work_each() -> None:
    log = chain("u1", "a0")
    for n in range(1, 10_000):
        log.say(f"a{n}", "u1", fork_of=f"a{n - 1}")
    tree = log.tree
    assert len(tree["a0"].versions) == 10_000
    assert tree["a9999"].version == 9_999


def test_t8_a_missing_middle_joins_when_it_comes() -> None:
    log = chain("u1", "a1").say("a3", "u1", fork_of="a2")
    assert ids(log.tree["a1"].versions) == ["a1"]
    tree = log.say("a2", "u1", fork_of="a1").tree
    assert ids(tree["a3"].versions) == ["a1", "a3", "a2"]
    assert ids(tree.at(3)["a3"].versions) == ["a3"]


def test_t9_an_edit_leaves_what_followed() -> None:
    tree = chain("u1", "a1", "u2", "a2").say("u2b", "a1", fork_of="u2").say("a3", "u2b").tree
    assert ids(tree["a1"].children) == ["u2", "u2b"]
    assert ids(tree.path("a2")) == ["u1", "a1", "u2", "a2"]
    assert ids(tree.path("a3")) == ["u1", "a1", "u2b", "a3"]


def test_t9_an_edit_of_the_first_message_is_another_first_one() -> None:
    tree = chain("u1", "a1").say("u1b", None, fork_of="u1").say("u1c", None, fork_of="u1b").tree
    assert ids(tree.roots) == ["u1", "u1b", "u1c"]
    assert ids(tree["u1"].versions) == ["u1", "u1b", "u1c"]
    assert ids(tree["u1b"].siblings) == ["u1", "u1b", "u1c"]


def test_t9_another_parent_is_no_version() -> None:
    tree = chain("u1", "a1").say("u9", "a1", fork_of="u1").tree
    assert codes(tree) == ["fork_parent_mismatch"]
    assert ids(tree["u9"].versions) == ["u9"]


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_t10_nothing_is_ever_lost(r: random.Random) -> None:
    events = history(r)
    tree = Tree.of(events)
    counts = [len(tree.at(seq)) for seq in range(len(events) + 1)]
    assert counts == sorted(counts)


def test_t10_a_placeholder_id_swapped_is_one_message() -> None:
    log = chain("u1", "a-temp").add("message_alias", alias="a-server", message_id="a-temp")
    log.say("a-server", "u1", content="a-temp")
    tree = log.tree
    assert ids(tree["u1"].children) == ["a-temp"]
    assert tree["a-server"] == tree["a-temp"]
    assert codes(tree) == []


def test_t11_every_change_is_told_once() -> None:
    log = chain("u1", "a1")
    tree = log.tree
    heard: list[tuple[str, str, int]] = []
    stop = tree.subscribe(lambda *told: heard.append(told))
    more = Log()
    more.events = [*log.events]
    more.say("a2", "u1").say("a2", "u1").add("message_alias", alias="x", message_id="a1").add("checkpoint")
    for event in more.events[2:]:
        tree.append(event)
    assert heard == [("message", "a2", 3), ("alias", "a1", 5)]
    stop()
    tree.append({"seq": 7, "type": "message", "data": {"message_id": "a3", "parent_id": "u1"}})
    assert len(heard) == 2


CALLS = [{"id": "c1"}, {"id": "c2"}]


def test_t12_tool_results_of_one_turn_are_one_path() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=CALLS).say("t1", "a1", tool_call_id="c1")
    tree = log.say("t2", "a1", tool_call_id="c2").say("u2", "a1").tree
    assert ids(tree.path("u2")) == ["u1", "a1", "t1", "t2", "u2"]
    assert [len(node.children) for node in tree] == [1, 1, 1, 1, 0]


def test_t12_results_the_other_way_round() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=CALLS).say("t2", "a1", tool_call_id="c2", serial=2)
    tree = log.say("t1", "a1", tool_call_id="c1", serial=1).say("u2", "t1").tree
    assert ids(tree.path("u2")) == ["u1", "a1", "t1", "t2", "u2"]
    assert ids(tree.at(3).path("t2")) == ["u1", "a1", "t2"]


def test_t12_a_call_answered_again_is_an_alternative() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=CALLS).say("t1", "a1", tool_call_id="c1")
    tree = log.say("t1b", "a1", tool_call_id="c1").say("u2", "t1b").tree
    assert ids(tree["a1"].children) == ["t1", "t1b"]
    assert ids(tree.path("u2")) == ["u1", "a1", "t1b", "u2"]


def test_t12_what_follows_one_result_follows_all() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=CALLS).say("t1", "a1", tool_call_id="c1")
    tree = log.say("t2", "a1", tool_call_id="c2").say("u2", "t1").tree
    assert ids(tree.path("u2")) == ["u1", "a1", "t1", "t2", "u2"]


def test_t13_the_hash_says_whether_anything_visible_differs() -> None:
    one = chain("u1", "a1").say("a2", "u1")
    assert one.tree.state_hash() == one.tree.state_hash()
    assert one.tree.state_hash() != chain("u1", "a1").say("a2", "a1").tree.state_hash()
    assert one.tree.state_hash() != chain("u1", "a1").say("a2", "u1", content="b").tree.state_hash()
    assert one.tree.at(2).state_hash() == chain("u1", "a1").tree.state_hash()


def test_t14_who_changes_a_transcript_changes_no_message() -> None:
    """What a provider calls as the log calls something of its own is given back, too."""
    parts = [{"type": "text", "text": "one"}]
    log = chain("u1", "a1").say("a2", "a1", content=parts, wire={"status": "completed"})
    said = log.tree.transcript("a2")
    assert said[-1] == {"role": "assistant", "content": parts, "status": "completed"}
    said[-1]["content"][0]["text"] = "two"
    assert log.tree["a2"].text == "one"
    assert log.tree.transcript("a2")[-1] == {"role": "assistant", "content": parts, "status": "completed"}


def test_t14_a_complete_message_does_not_change() -> None:
    log = (
        chain("u1", "a1").add("stream_chunk", message_id="a1", content="more").say("a1", "u1", content="new")
    )
    tree = log.tree
    assert tree["a1"].text == "a1"
    assert codes(tree) == ["stream_after_end", "msg_conflict"]


@pytest.mark.slow
@settings(max_examples=tries(50), deadline=None)
@given(st.randoms(use_true_random=False))
def test_x2_at_any_seq_is_the_fold_up_to_there(r: random.Random) -> None:
    _check_every_seq(history(r, nested=0.05))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_x2_at_any_seq_of_ten_thousand_histories(part: int) -> None:
    for seed in seeds(1000 * part, 1000 * (part + 1)):
        _check_every_seq(history(random.Random(seed), 12, nested=0.05))


def _check_every_seq(events: Events) -> None:
    tree = Tree.of(events)
    for seq in range(len(events) + 1):
        assert tree.at(seq).state_hash() == Tree.of(events[:seq]).state_hash()
        assert [d.code for d in tree.at(seq).diagnostics] == codes(Tree.of(events[:seq]))
    for node in tree:
        assert node.depth == sum(
            above.role in ("user", "assistant") for above in tree.path(node.id, strict=False)
        )


@pytest.mark.slow
@settings(max_examples=tries(80), deadline=None)
@given(st.randoms(use_true_random=False))
def test_x2_a_key_that_says_nothing_changes_nothing(r: random.Random) -> None:
    """Most messages are folded on a shorter way, which looks at the keys there are."""
    events = history(r, nested=0.05)
    longer = [
        {**event, "data": {**event["data"], "turn_id": None}} if event["type"] == "message" else event
        for event in events
    ]
    one, other = Tree.of(events), Tree.of(longer)
    assert one.state_hash() == other.state_hash()
    assert [(d.seq, d.code, d.text) for d in one.diagnostics] == [
        (d.seq, d.code, d.text) for d in other.diagnostics
    ]
    for node in one:
        twin = other[node.id]
        assert (node.depth, node.number, [n.id for n in node.versions]) == (
            twin.depth,
            twin.number,
            [n.id for n in twin.versions],
        )
        assert [n.id for n in node.siblings] == [n.id for n in twin.siblings]


@pytest.mark.slow
def test_x4_a_million_deep() -> None:
    log = Log()
    for n in range(100_000):
        log.say(f"u{n}", f"u{n - 1}" if n else None)
    tree = log.tree
    assert tree["u99999"].depth == 100_000
    assert len(pickle.loads(pickle.dumps(tree.at(1000)))) == 1000
    assert "100000" in repr(tree)


def test_a_tree_prints_its_conversations() -> None:
    log = chain("u1", "a1", "u2", "a2", "u3", "a3")
    log.say("a4", "u1").say("x", None, "user", conversation_id="side")
    assert str(log.tree).splitlines()[1:] == ["  main: u1 > a4  (+1 branch)", "  side: x"]
    assert str(log.tree.at(6)).splitlines()[1:] == ["  main: ... > u2 > a2 > u3 > a3"]
