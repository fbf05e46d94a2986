"""Rows V7, V8 and V12 of CONVERSATIONS.md section 4: pages of a view. Each test names its row."""

from __future__ import annotations

import pytest

from lctl.errors import UsageError
from tests.unit.conversation.events import chain, ids, lines_run
from tests.unit.conversation.viewing import Desk


def test_v7_a_page_of_the_newest() -> None:
    tree = chain(*(f"u{n}" for n in range(50))).tree
    view = tree.view(limit=20)
    assert ids(view.nodes) == [f"u{n}" for n in range(30, 50)]
    assert view.has_older
    assert ids(view.load_older(25)) == [f"u{n}" for n in range(5, 30)]
    assert ids(view.nodes) == [f"u{n}" for n in range(5, 50)]
    assert ids(view.load_older(25)) == [f"u{n}" for n in range(5)]
    assert not view.has_older
    assert view.load_older(1) == []
    assert view.depth == 50
    assert len(tree.view(limit=20).messages()) == 50


def test_v7_the_boundary_parts_no_call_from_its_results() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=[{"id": "c1"}, {"id": "c2"}])
    log.say("t1", "a1", tool_call_id="c1").say("t2", "a1", tool_call_id="c2").say("a2", "t2")
    assert ids(log.tree.view(limit=2).nodes) == ["a1", "t1", "t2", "a2"]
    view = log.tree.view(limit=1)
    assert ids(view.nodes) == ["a2"]
    assert ids(view.load_older(1)) == ["a1", "t1", "t2"]
    assert view.has_older


def test_v7_nor_where_results_are_parts_of_a_user_message() -> None:
    log = chain("u1").say("a1", "u1", content=[{"type": "tool_use", "id": "c1", "name": "f", "input": {}}])
    log.say("u2", "a1", content=[{"type": "tool_result", "tool_use_id": "c1", "content": "x"}])
    assert ids(log.tree.view(limit=1).nodes) == ["a1", "u2"]


def test_v7_no_page_and_one_message() -> None:
    desk = Desk(chain("u1", "a1"))
    view, one = desk.tree.view(limit=0), desk.tree.view(limit=1)
    assert (ids(view.nodes), ids(one.nodes)) == ([], ["a1"])
    assert view.has_older
    desk.say("u2", "a1", "user")
    assert (ids(view.nodes), ids(one.nodes)) == (["u2"], ["a1", "u2"])
    assert ids(view.load_older(1)) == ["a1"]
    with pytest.raises(UsageError, match="limit"):
        desk.tree.view(limit=-1)


def test_v7_what_comes_pushes_nothing_out() -> None:
    desk = Desk(chain("u0"))
    view = desk.tree.view(limit=2)
    for n in range(1, 10):
        desk.say(f"u{n}", f"u{n - 1}", "user")
    assert len(view.nodes) == 10
    assert not view.has_older


def test_v8_a_branch_below_the_page_keeps_it() -> None:
    log = chain(*(f"u{n}" for n in range(10))).say("b8", "u7").say("b9", "b8")
    view = log.tree.view(limit=4)
    assert ids(view.nodes) == ["u6", "u7", "b8", "b9"]
    view.select("u9")
    assert ids(view.nodes) == ["u6", "u7", "u8", "u9"]


def test_v8_above_the_page_it_begins_at_the_fork() -> None:
    log = chain(*(f"u{n}" for n in range(10)))
    for n in range(3, 9):
        log.say(f"b{n}", f"b{n - 1}" if n > 3 else "u2")
    log.say("last", "u9")
    view = log.tree.view(limit=3)
    assert ids(view.nodes) == ["u8", "u9", "last"]
    view.select("b5")
    assert ids(view.nodes) == ["b3", "b4", "b5", "b6", "b7", "b8"]
    assert ids(view.load_older(1)) == ["u2"]
    assert view.siblings("b3").ids == ["u3", "b3"]


def test_v8_a_short_branch_fills_the_page() -> None:
    log = chain(*(f"u{n}" for n in range(10))).say("b3", "u2").say("last", "u9")
    view = log.tree.view(limit=3)
    view.select("b3")
    assert ids(view.nodes) == ["u1", "u2", "b3"]


def test_v12_a_switch_costs_what_changes() -> None:
    """Counted in lines run, which do not depend on the machine: the same below 100 messages and 10,000."""
    assert _lines_of_a_switch(10_000) <= _lines_of_a_switch(100) + 5


def _lines_of_a_switch(depth: int) -> int:
    log = chain(*(f"u{n}" for n in range(depth)))
    for n in range(10):
        log.say(f"b{n}", f"b{n - 1}" if n else f"u{depth - 11}")
    view = log.tree.view(limit=50)
    view.select(f"u{depth - 1}")
    _, lines = lines_run(lambda: view.select("b9"))
    assert ids(view.nodes)[-10:] == [f"b{n}" for n in range(10)]
    return lines
