"""Rows G9 to G12: sub-agents, calls, versions, and the graph as a DAG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.errors import UsageError
from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from tests.unit.messagegraph.calling import assistant, call, events, system, told, user


def asked(*ids: str) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
    return assistant(None, tool_calls=calls)


def result(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def work(session: LCTLSession, graph: MessageGraph, *answers: dict[str, Any]) -> None:
    for answer in answers:
        call(session, graph, answer)
        graph.append(answer)


def texts(nodes: Any) -> list[str]:
    return [node.text for node in nodes]


def test_g9_three_deep(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("outer")])
    graphs = [graph]
    for depth in range(3):
        work(session, graphs[-1], asked(f"c{depth}"))
        inner = graphs[-1].nested(f"c{depth}")
        inner.append(user(f"inner {depth}"))
        graphs.append(inner)
    work(session, graphs[-1], assistant("deepest"))
    for depth in (2, 1, 0):
        graphs[depth].append(result(f"c{depth}", f"result {depth}"))
        work(session, graphs[depth], assistant(f"end {depth}"))
    tree = session.tree
    at = graph.tip
    for depth in range(3):
        assert at is not None
        results = [node for node in at.path if node.role == "tool"]
        assert len(results) == 1
        below = results[0].subchat
        assert below[0].text == f"inner {depth}"
        assert {node.id for node in below}.isdisjoint(node.id for node in at.path)
        at = below[-1]
    assert at is not None and at.text == "deepest" and at.sampled
    assert all(graph.breaks == [] for graph in graphs)
    assert len(tree.conversations) == 4


def test_g9_each_call_has_its_own_and_edits_stay_inside(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    work(session, graph, asked("c1", "c2"))
    first, second = graph.nested("c1"), graph.nested("c2")
    first.extend(graph)  # it begins as its parent's context does
    second.append(user("task 2"))
    work(session, first, assistant("one"))
    work(session, second, assistant("two"))
    first[0]["content"] = "edited"
    work(session, first, assistant("one again"))
    graph.extend([result("c1", "1"), result("c2", "2")])
    one, two = graph.tip.path[-2:] if graph.tip else (None, None)
    assert one is not None and two is not None
    assert texts(one.subchat) == ["edited", "", "one", "one again"]
    assert texts(two.subchat) == ["task 2", "two"]
    assert [found.reason for found in first.breaks] == ["edit"] and graph.breaks == []
    graph[2]["content"] = "1, edited"
    assert graph.tip is not None
    assert texts(graph.tip.path[-1].subchat) == texts(two.subchat)


def test_g9_a_call_nobody_asked_for(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    with pytest.raises(UsageError, match="'c9'"):
        graph.nested("c9")
    assert graph[0] == user("u") and graph.tip is not None and graph.tip.subchat == []


def test_g10_equal_choices_are_two_samples(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    leaf = call(session, graph, assistant("a"), assistant("a"), assistant("b"))
    graph.append(assistant("a"))
    assert graph.tip is not None
    assert texts(graph.tip.siblings) == ["a", "a", "b"]
    assert [node.sampled for node in session.tree[leaf].children] == [True] * 3
    assert graph.breaks == []


def test_g10_a_call_without_an_answer_adds_nothing(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    leaf = call(session, graph)
    assert session.tree[leaf].children == []
    work(session, graph, assistant("a"))
    assert graph.breaks == []


def test_g10_calls_reported_by_hand_know_the_graph(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    session.llm_trace(messages=graph, response={"role": "assistant", "content": "a"}, model="m")
    graph.append(assistant("a"))
    graph.append(user("v"))
    assert graph.tip is not None and graph.tip.parent is not None and graph.tip.parent.sampled
    session.llm_trace(messages=graph, response="b", model="m")
    prompts = [event["data"]["prompt"] for event in events(session) if event["type"] == "step_start"]
    assert prompts[-1] == graph.tip.id
    assert len(told(session)) == 4 and graph.breaks == []
    call(session, graph)  # the same path, now on the wire
    assert len(told(session)) == 4


def test_g11_versions_and_previous(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[system("s"), user("u")])
    work(session, graph, assistant("a"))
    graph[1]["content"] = "v"
    graph[0]["content"] = "t"
    graph[1]["content"] = "w"
    assert texts(graph.versions(1)) == texts(graph.versions(-2)) == ["u", "v", "w"]
    assert texts(graph.versions(0)) == ["s", "t"] and texts(graph.versions(2)) == ["a"]
    with pytest.raises(IndexError):
        graph.versions(3)
    previous = graph.previous()
    assert previous == [system("s"), user("u"), assistant("a")]
    assert previous is not None and previous.previous() is None
    assert graph == [system("t"), user("w"), assistant("a")]


def test_g11_going_on_from_the_previous_one(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[user("u")])
    work(session, graph, assistant("a"))
    graph[0]["content"] = "v"
    work(session, graph, assistant("b"))
    previous = graph.previous()
    assert previous is not None and previous.tip is not None and previous.tip.sampled
    previous.append(user("on"))
    work(session, previous, assistant("c"))
    assert previous.breaks == [] and len(graph.breaks) == 1
    assert texts(previous.tip.path) == ["u", "a", "on", "c"] and texts(graph.versions(0)) == ["u", "v"]


def test_g11_after_the_log_was_closed(tmp_path: Path) -> None:
    log = tmp_path / "again.lctl.json"
    with LCTLSession("again", log) as session:
        graph = MessageGraph(session, "talk", [system("s"), user("u")])
        work(session, graph, assistant("a"))
        graph[1]["content"] = "v"
        work(session, graph, assistant("b"))
        count = len(told(session))
    tip = lctl.load(log).tree.tip("talk")
    assert tip is not None
    with pytest.raises(UsageError, match="can only be read"):
        MessageGraph.resume(tip)
    with LCTLSession("again", log) as session:
        last = session.tree.tip("talk")
        assert last is not None
        graph = MessageGraph.resume(last)
        assert graph == [system("s"), user("v"), assistant("a"), assistant("b")]
        assert texts(graph.versions(1)) == ["u", "v"]
        assert [(one.reason, one.index) for one in graph.breaks] == [("edit", 1)]
        previous = graph.previous()
        assert previous == [system("s"), user("u"), assistant("a")]
        graph[1]["content"] = "u"
        graph.pop()
        assert graph.tip is not None and graph.tip.sampled, "what the first run has recorded"
        assert len(told(session)) == count + 1, "a copy of b"
        graph.append(user("on"))
        work(session, graph, assistant("c"))
        assert session.tree.transcript(graph.tip.id) == graph
        assert graph.tip.conversation == "talk"


def test_g12_every_edge_points_back(session: LCTLSession) -> None:
    graph = MessageGraph(session, messages=[system("s")])
    for turn in range(4):
        graph.append(user(f"u{turn}"))
        work(session, graph, asked(f"c{turn}"))
        graph.nested(f"c{turn}").append(user("inner"))
        graph.append(result(f"c{turn}", "r"))
        graph[turn]["content"] = "edited"
        graph.insert(0, user("first"))
        del graph[1]
    seqs: dict[str, int] = {}
    for event in events(session):
        if event["type"] != "message":
            continue
        data = event["data"]
        named = [data["parent_id"], data.get("fork_of"), data.get("copy_of"), *data.get("carry", ())]
        named.append(data.get("nested_in", {}).get("message_id"))
        assert all(str(id).partition("+")[0] in seqs for id in named if id is not None)
        seqs[data["message_id"]] = event["seq"]
