"""Rows V13 to V15 of CONVERSATIONS.md section 4: the log, the end, and threads. Each test names its row."""

from __future__ import annotations

import gc
import random
import threading
import weakref

import pytest

from lctl.conversation.tree import Tree
from lctl.conversation.view import Change, View
from lctl.errors import UsageError
from tests.unit.conversation.events import chain, ids
from tests.unit.conversation.viewing import Desk, heard


def test_v13_selections_in_the_log_hold_from_their_seq_on() -> None:
    desk = Desk(chain("u1", "a1").say("a2", "u1"))
    view = desk.tree.view()
    view.select("a1", durable=True)
    assert desk.events[-1]["type"] == "view_select"
    assert desk.last == {"view": "main", "message_id": "a1"}
    at = len(desk.events)
    view.select("a2", durable=True)
    again = Tree.of(desk.events)
    assert [ids(again.at(seq).view().nodes) for seq in (at - 1, at, at + 1)] == [
        ["u1", "a2"],
        ["u1", "a1"],
        ["u1", "a2"],
    ]


def test_v13_each_name_has_its_selections() -> None:
    desk = Desk(chain("u1", "a1").say("a2", "u1"))
    desk.tree.view(name="left").select("a1", durable=True)
    assert ids(desk.tree.view(name="left").nodes) == ["u1", "a1"]
    assert ids(desk.tree.view().nodes) == ["u1", "a2"]


def test_v13_what_is_read_only_is_selected_for_now() -> None:
    view = chain("u1", "a1").say("a2", "u1").tree.view()
    with pytest.raises(UsageError, match="only be read"):
        view.select("a1", durable=True)
    view.select("a1")
    assert ids(view.nodes) == ["u1", "a1"]


def test_v13_the_view_of_a_fixed_tree_stays() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.at(2).view()
    future = desk.tree.at(100).view()
    desk.say("u2", "a1", "user")
    assert ids(view.nodes) == ids(future.nodes) == ["u1", "a1"]
    with pytest.raises(UsageError, match="only be read"):
        view.send("x")


def test_v14_a_closed_view_tells_and_does_nothing() -> None:
    desk = Desk(chain("u1"))
    with desk.tree.view() as view:
        told = heard(view)
    view.close()
    desk.say("a1", "u1")
    assert told == []
    for act in (
        lambda: view.nodes,
        lambda: view.messages(),
        lambda: view.select("u1"),
        lambda: view.send("x"),
        lambda: view.load_older(1),
        lambda: view.siblings("u1"),
        lambda: view.on("path", print),
        lambda: view.has_older,
        lambda: len(view),
    ):
        with pytest.raises(UsageError, match="closed"):
            act()
    assert repr(view) == "<View, closed>"


@pytest.mark.slow
def test_v14_nothing_is_left_of_a_hundred_thousand_views() -> None:
    desk = Desk(chain("u1", "a1", "u2"))
    _left_over(desk, 100_000)


def test_v14_nothing_is_left_of_a_thousand_views() -> None:
    desk = Desk(chain("u1", "a1", "u2"))
    _left_over(desk, 1_000)


def _left_over(desk: Desk, count: int) -> None:
    first: weakref.ref[View] | None = None
    for n in range(count):
        view = desk.tree.view()
        if n % 2:
            view.close()
        first = first or weakref.ref(view)
    del view
    gc.collect()
    desk.say("a9", "u1")
    assert first is not None
    assert first() is None
    assert desk.tree.forest.news.watch is None
    before = len(gc.get_objects())
    for _ in range(100):
        desk.tree.view().close()
    gc.collect()
    assert len(gc.get_objects()) - before < 50


def test_v14_closed_by_a_listener() -> None:
    desk = Desk(chain("u1"))
    view = desk.tree.view()
    view.on("path", lambda change: view.close())
    told: list[Change] = []
    view.on("path", told.append)
    desk.say("a1", "u1")
    assert told == []


def test_v14_who_listens_without_holding_the_view_is_told() -> None:
    desk = Desk(chain("u1"))
    told: list[Change] = []
    stop = desk.tree.view().on("path", told.append)
    gc.collect()
    desk.say("a1", "u1")
    assert len(told) == 1
    stop()


def test_v15_readers_see_whole_paths_while_a_writer_appends() -> None:
    """A conversation of turns: question, two tool calls, their results, answer. A reader that sees a result
    without its call, an order that never was, or half of an event fails."""
    desk = Desk(chain("u0"))
    view = desk.tree.view()
    wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                numbers = [node.number for node in view.nodes]
                parents = [desk.tree.forest.parents[n] for n in numbers]
                if parents[1:] != numbers[:-1]:
                    wrong.append(("torn", numbers[-5:], parents[-5:]))
                if ids(view.path)[: len(numbers)] != ids(desk.tree.node(n) for n in numbers):
                    wrong.append("two paths")
                for message in view.messages(repair="truncate"):
                    if "role" not in message:
                        wrong.append(message)
                for node in desk.tree:
                    node.siblings, node.text, node.depth  # noqa: B018
                view.depth, view.has_older, desk.tree.state_hash()
            except Exception as error:
                wrong.append(error)

    def browse() -> None:
        own = desk.tree.view(limit=3)
        r = random.Random(1)
        while not done.is_set():
            try:
                own.select(r.choice(desk.tree.forest.ids[: len(desk.tree)]))
                own.load_older(2)
                shown = [node.number for node in own.nodes]
                parents = [desk.tree.forest.parents[n] for n in shown]
                if parents[1:] != shown[:-1]:
                    wrong.append(("torn", shown, parents))
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for work in (read, read, browse, browse)]
    for thread in threads:
        thread.start()
    last = "u0"
    for n in range(1, 60):
        desk.say(f"a{n}", last, tool_calls=[{"id": f"c{n}"}, {"id": f"d{n}"}])
        desk.say(f"t{n}", f"a{n}", "tool", tool_call_id=f"c{n}")
        desk.say(f"s{n}", f"a{n}", "tool", tool_call_id=f"d{n}")
        desk.emit("stream_start", {"message_id": f"b{n}", "parent_id": f"s{n}"})
        for _ in range(3):
            desk.emit("stream_chunk", {"message_id": f"b{n}", "content": "word "})
        desk.emit("stream_end", {"message_id": f"b{n}"})
        desk.say(f"x{n}", last, "user")
        last = f"b{n}"
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert view.nodes[-1].id == "b59"


def test_v15_what_is_gone_through_does_not_change() -> None:
    desk = Desk(chain("u1", "a1", "u2"))
    view = desk.tree.view()
    seen = []
    for node in view.nodes:
        seen.append(node.id)
        desk.say(f"x{node.id}", view.nodes[-1].id)
    assert seen == ["u1", "a1", "u2"]
    assert len(view) == 6
