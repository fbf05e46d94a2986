"""Rows G2 to G8: edits are recorded, the past stays, and what parts the contexts of calls is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from lctl.session.messagegraph.message import Message
from tests.unit.messagegraph.calling import assistant, call, system, told, user


def asked(*ids: str) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
    return assistant(None, tool_calls=calls)


def result(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def talk(session: LCTLSession, turns: int = 2) -> MessageGraph:
    """A system prompt, then turns of user text and sampled answer."""
    graph = MessageGraph(session, messages=[system("s")])
    for turn in range(turns):
        graph.append(user(f"u{turn}"))
        call(session, graph, assistant(f"a{turn}"))
        graph.append(assistant(f"a{turn}"))
    return graph


def path(session: LCTLSession, graph: MessageGraph) -> list[dict[str, Any]]:
    assert graph.tip is not None
    return session.tree.transcript(graph.tip.id)


CHANGES: dict[str, Any] = {
    "setitem": lambda message: message.__setitem__("content", "x"),
    "update": lambda message: message.update({"content": "x"}),
    "update by name": lambda message: message.update(content="x"),
    "or": lambda message: message.__ior__({"content": "x"}),
    "setdefault": lambda message: message.setdefault("name", "x"),
    "del": lambda message: message.__delitem__("name"),
    "pop": lambda message: message.pop("name"),
    "popitem": lambda message: message.popitem(),
    "clear": lambda message: message.clear(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_g2_every_way_to_change_a_message_is_one_event(session: LCTLSession, change: str) -> None:
    named = {"name": "n"} if change in ("del", "pop", "popitem") else {}
    graph = MessageGraph(session, messages=[system("s"), user("u") | named, user("v")])
    before = dict(graph[1])
    count, old = len(told(session)), graph.route.id(1)
    CHANGES[change](graph[1])
    events = told(session)
    assert len(events) == count + 1
    assert events[-1]["fork_of"] == old
    assert session.tree[old].message == before
    assert path(session, graph) == graph


def test_g2_the_form_of_the_issue(session: LCTLSession) -> None:
    graph = talk(session)
    graph[2]["content"] = "edit"
    assert graph[2] == assistant("edit")
    assert told(session)[-1]["content"] == "edit"
    assert path(session, graph) == graph


def test_g2_a_change_inside_is_seen_at_the_next_call_only_once(session: LCTLSession) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {"url": "u"}}]
    graph = MessageGraph(session, messages=[user(parts), user("v")])
    graph[0]["content"][0]["text"] = "two"
    assert len(told(session)) == 2
    leaf = call(session, graph)
    assert session.tree.transcript(leaf) == graph
    assert told(session)[-1]["fork_of"] == "m1"
    count = len(told(session))
    call(session, graph)
    assert len(told(session)) == count


def test_g2_a_change_inside_is_seen_when_the_message_is_moved(session: LCTLSession) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "x"}]
    graph = MessageGraph(session, messages=[user("u"), user(parts)])
    graph[1]["content"][0]["text"] = "two"
    graph.insert(0, graph.pop())
    graph[1]["content"] = "v"
    graph[0]["content"] = parts
    leaf = call(session, graph)
    assert session.tree.transcript(leaf) == graph == [user(parts), user("v")]
    graph[0]["content"][0]["text"] = "three"
    graph.reverse()
    leaf = call(session, graph)
    assert session.tree.transcript(leaf) == graph


def test_g2_a_message_taken_out_is_nobodys(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u"), user("v")])
    taken = graph.pop()
    taken["content"] = "w"
    assert len(told(session)) == 2 and isinstance(taken, Message)
    graph.append(taken)
    assert graph[-1] is taken and told(session)[-1]["content"] == "w"


def test_g3_nobody_elses_dict_is_kept(session: LCTLSession) -> None:
    inner = [{"type": "text", "text": "one"}]
    mine = user(inner)
    graph = MessageGraph(session)
    graph.append(mine)
    graph[0]["extra"] = inner
    leaf = call(session, graph)
    mine["content"] = "changed"
    inner[0]["text"] = "changed"
    assert graph[0]["content"] == graph[0]["extra"] == [{"type": "text", "text": "one"}]
    assert call(session, graph) == leaf


def test_g3_putting_a_message_in_twice_makes_two(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    graph.append(graph[0])
    graph[0]["content"] = "v"
    assert graph == [user("v"), user("u")]
    other = MessageGraph(session, messages=graph)
    other[0]["content"] = "w"
    assert graph[0] == user("v")


def test_g4_edits_that_no_call_has_read_part_nothing(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[system("s"), user("u")])
    graph[0]["content"] = "before any call"
    call(session, graph, assistant("a"))
    graph.append(assistant("a"))
    graph.append(user("after the last answer"))
    graph[-1]["content"] = "edited"
    assert graph.breaks == []
    call(session, graph, assistant("b"))
    assert graph.breaks == []


@pytest.mark.parametrize(
    ("change", "reason", "index"),
    [
        (lambda h: h[1].__setitem__("content", "x"), "edit", 1),
        (lambda h: h.__setitem__(2, assistant("x")), "edit", 2),
        (lambda h: h.insert(1, user("x")), "insert", 1),
        (lambda h: h.__delitem__(1), "delete", 1),
        (lambda h: h.__delitem__(slice(1, 3)), "delete", 1),
        (lambda h: h.__setitem__(slice(1, 4), [user("x")]), "compaction", 1),
        (lambda h: h.__setitem__(slice(1, None), [user("x")]), "compaction", 1),
        (lambda h: h.pop(), "regenerate", 4),
        (lambda h: h.__delitem__(slice(3, None)), "delete", 3),
        (lambda h: (h.pop(), h.pop(), h.append(user("x"))), "fork", 3),
    ],
)
def test_g5_what_was_done_is_the_reason(session: LCTLSession, change: Any, reason: str, index: int) -> None:
    graph = talk(session)
    change(graph)
    assert [(one.reason, one.index) for one in graph.breaks] == [(reason, index)]
    left = graph.breaks[0].left
    graph.append(user("next"))
    call(session, graph, assistant("b"))
    graph.append(assistant("b"))
    expected = "fork" if reason in ("delete", "regenerate") and index >= 3 else reason
    assert [(one.reason, one.index, one.left) for one in graph.breaks] == [(expected, index, left)]
    assert path(session, graph) == graph


def test_g5_undone_edits_part_nothing(session: LCTLSession) -> None:
    graph = talk(session)
    before, tip = list(map(dict, graph)), graph.tip
    graph[0]["content"] = "x"
    graph[2]["content"] = "y"
    assert len(graph.breaks) == 1
    graph[2]["content"] = "a0"
    graph[0]["content"] = "s"
    assert graph == before and graph.tip == tip and graph.breaks == []
    graph[0]["content"] = "x"
    graph[:] = before
    assert graph.tip == tip and graph.breaks == []


def test_g5_an_answer_written_otherwise_is_an_edit_of_it(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    call(session, graph, assistant(" a "))
    graph.append(assistant("a"))
    assert graph.tip is not None and not graph.tip.sampled
    assert [node.text for node in graph.versions(-1)] == [" a ", "a"]
    graph.append(user("v"))
    call(session, graph, assistant("b"))
    assert [(one.reason, one.index) for one in graph.breaks] == [("edit", 1)]


def test_g5_another_result_of_the_same_tool_call_is_a_retry(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    call(session, graph, asked("c1"))
    graph.append(asked("c1"))
    graph.append(result("c1", "failed"))
    call(session, graph, assistant("a"))
    graph.append(assistant("a"))
    del graph[2:]
    graph.append(result("c1", "worked"))
    call(session, graph, assistant("b"))
    assert [(one.reason, one.index) for one in graph.breaks] == [("tool_retry", 2)]


def test_g5_tool_results_keep_their_places_under_edits(session: LCTLSession) -> None:
    """Readers chain the results of one turn's tools; an edited list says exactly where each one stands."""
    graph = MessageGraph(session, messages=[user("u"), asked("c1", "c2")])
    graph.extend([result("c1", "one"), result("c2", "two"), user("go on")])
    changes: list[Callable[[], object]] = [
        lambda: graph[2].__setitem__("content", "other"),
        lambda: graph.__delitem__(2),
        lambda: graph.insert(2, result("c1", "again")),
        lambda: graph.__setitem__(slice(2, None), [user("never mind")]),
        lambda: graph.append(result("c2", "late")),
        lambda: graph.__setitem__(slice(2, None), [result("c2", "two"), result("c1", "one")]),
    ]
    for change in changes:
        change()
        assert path(session, graph) == graph


def test_g6_what_says_the_same_is_no_edit(session: LCTLSession) -> None:
    graph = talk(session)
    graph.append(asked("c1"))
    count = len(told(session))
    graph[1]["content"] = "u0"
    graph[2] = assistant("a0", refusal=None, annotations=[])
    graph[0:2] = [system("s"), user("u0")]
    graph[:] = [dict(message) for message in graph]
    graph[-1]["content"] = ""  # as None, beside tool calls
    with graph.edit():
        graph.append(user("x"))
        graph.pop()
    assert len(told(session)) == count and graph.breaks == []


def test_g6_other_tool_calls_with_the_same_text_are_an_edit(session: LCTLSession) -> None:
    graph = talk(session)
    graph[2]["tool_calls"] = asked("c1")["tool_calls"]
    assert told(session)[-1]["tool_calls"] and len(graph.breaks) == 1
    graph[0]["role"] = "developer"
    assert told(session)[-1]["role"] == "developer"


def test_g7_a_batch_is_one_change(session: LCTLSession) -> None:
    graph = talk(session, 3)
    count = len(told(session))
    with graph.edit() as same:
        assert same is graph
        for turn in range(5):
            graph[1]["content"] = f"edit {turn}"
        with graph.edit():
            graph[2]["content"] = "nested"
    events = told(session)[count:]
    assert [event["content"] for event in events] == ["edit 4", "nested"]
    assert path(session, graph) == graph
    with pytest.raises(KeyError), graph.edit():
        graph[0]["content"] = "kept"
        raise KeyError
    assert path(session, graph) == graph and graph[0]["content"] == "kept"


def test_g7_fifty_edits_are_fifty_events(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user(str(n)) for n in range(2001)])
    before = session.path.stat().st_size
    count = len(told(session))
    for n in range(50):
        graph[n * 40]["content"] = f"edit {n}"
    assert len(told(session)) == count + 50
    assert session.path.stat().st_size - before < 50 * 300
    assert path(session, graph) == graph


def test_g7_edits_between_two_calls_are_one_break(session: LCTLSession) -> None:
    graph = talk(session, 3)
    left = graph.tip
    for index in (3, 1, 4, 2, 1):
        graph[index]["content"] = f"edit {index}"
    assert len(graph.breaks) == 1
    graph.append(user("next"))
    call(session, graph, assistant("b"))
    assert left is not None
    assert [(one.reason, one.index, one.left) for one in graph.breaks] == [("edit", 1, left.id)]


def test_g8_compaction_again_and_again(session: LCTLSession) -> None:
    graph = talk(session, 3)
    for turn in range(3):
        with graph.edit():
            graph[1:-1] = [user(f"summary {turn}")]
        graph.append(user("next"))
        call(session, graph, assistant(f"b{turn}"))
        graph.append(assistant(f"b{turn}"))
        assert path(session, graph) == graph
    assert [one.reason for one in graph.breaks] == ["compaction"] * 3
    sampled = [node for node in session.tree if node.sampled]
    assert [node.text for node in sampled] == ["a0", "a1", "a2", "b0", "b1", "b2"]
    assert all(node.path[0].text == "s" for node in sampled)


def test_g5_a_call_from_where_the_list_was_cut_is_a_fork(session: LCTLSession) -> None:
    graph = talk(session)
    del graph[3:]
    assert [one.reason for one in graph.breaks] == ["delete"]
    call(session, graph, assistant("b"))
    assert [(one.reason, one.index) for one in graph.breaks] == [("fork", 3)]


def test_g4_g5_g7_samples_are_the_contexts_of_calls(session: LCTLSession) -> None:
    pytest.importorskip("lctl.training")
    graph = talk(session)
    graph.append(user("after the last answer"))
    graph[-1]["content"] = "edited"
    assert [row.weights for row in graph.samples()] == [[0, 0, 1, 0, 1]]
    for turn in range(5):
        graph[1]["content"] = f"edit {turn}"
    call(session, graph, assistant("b"))
    graph.append(assistant("b"))
    rows = list(graph.samples())
    assert [row.weights for row in rows] == [[0, 0, 1, 0, 1], [0, 0, 0, 0, 0, 0, 1]]
    assert rows[1].messages == graph
    assert [row.break_reason for row in rows] == [None, "edit"]
