"""Row G1: a graph is a list of dicts, whatever is done to it."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from typing import Any

import msgspec
import orjson
import pydantic
import pytest

import lctl
from lctl.errors import UsageError
from lctl.session import LCTLSession
from lctl.session.messagegraph.graph import MessageGraph
from tests.unit.messagegraph.calling import assistant, system, told, user


def three(session: LCTLSession | None = None) -> MessageGraph:
    return MessageGraph(session, messages=[system("s"), user("u"), assistant("a")])


def texts(graph: Any) -> list[Any]:
    return [message["content"] for message in graph]


def test_g1_it_reads_as_a_list(session: LCTLSession) -> None:
    graph = three(session)
    plain = [system("s"), user("u"), assistant("a")]
    assert isinstance(graph, list) and all(isinstance(message, dict) for message in graph)
    assert graph == plain and plain == graph and graph != plain[:2]
    assert len(graph) == 3 and graph[-1] == assistant("a") and user("u") in graph
    assert graph[1:] == plain[1:] and type(graph[1:]) is list
    assert graph + [user("v")] == [*plain, user("v")]  # noqa: RUF005
    assert list(reversed(graph)) == plain[::-1]
    assert graph.index(user("u")) == 1 and graph.count(user("u")) == 1
    others: list[Any] = ["no list", 3, None]
    assert all(graph != other for other in others)
    assert repr(graph) == repr(plain)
    with pytest.raises(TypeError):
        hash(graph)
    with pytest.raises(IndexError):
        graph[3]


def test_g1_encoders_take_it_as_it_is(session: LCTLSession) -> None:
    graph = three(session)
    plain = [system("s"), user("u"), assistant("a")]
    assert json.loads(json.dumps(graph)) == plain
    assert orjson.loads(orjson.dumps(graph)) == plain
    assert msgspec.json.decode(msgspec.json.encode(graph)) == plain
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(graph)) == plain


def test_g1_msgpack_takes_it(session: LCTLSession) -> None:
    msgpack = pytest.importorskip("msgpack")
    assert msgpack.unpackb(msgpack.packb(three(session))) == [system("s"), user("u"), assistant("a")]


def test_g1_pickled_and_copied_messages_are_plain(session: LCTLSession) -> None:
    graph = three(session)
    assert type(pickle.loads(pickle.dumps(graph))) is list
    assert pickle.loads(pickle.dumps(graph)) == graph
    for made in (copy.copy(graph[0]), copy.deepcopy(graph[0]), graph[0].copy(), graph[0] | {}):
        assert type(made) is dict and made == graph[0]
    before = len(told(session))
    made["content"] = "of the copy"
    assert len(told(session)) == before


def test_g1_an_operation_is_one_event(session: LCTLSession) -> None:
    graph = three(session)
    count = 3

    def one_more(**expected: Any) -> None:
        nonlocal count
        count += 1
        events = told(session)
        assert len(events) == count
        assert {key: events[-1].get(key) for key in expected} == expected

    graph.append(user("v"))
    one_more(message_id="m4", parent_id="m3", content="v")
    graph[1] = user("w")
    one_more(message_id="m5", parent_id="m1", fork_of="m2", carry=["m3", "m4"])
    graph.insert(1, system("t"))
    one_more(message_id="m6", parent_id="m1", carry=["m5", "m5+2"], fork_of=None)
    del graph[1]  # what it was before
    assert len(told(session)) == count
    del graph[0]
    one_more(message_id="m7", parent_id=None, copy_of="m5", carry=["m5+1", "m5+2"])
    assert "content" not in told(session)[-1]
    assert texts(graph) == ["w", "a", "v"] == [node.text for node in session.tree.path("m7+2")]
    with graph.edit():
        graph[0:2] = [user("summary")]
    one_more(message_id="m8", parent_id=None, content="summary", carry=["m7+2", "m7+2"])


def test_g1_cutting_the_end_records_nothing(session: LCTLSession) -> None:
    graph = three(session)
    assert graph.pop() == assistant("a")
    del graph[1:]
    graph.clear()
    assert graph == [] and len(told(session)) == 3
    assert graph.tip is None and graph.depth == 0
    graph.extend([system("s"), user("u")])  # where it was before
    assert len(told(session)) == 3
    assert graph.tip is not None and graph.tip.id == "m2" and graph.depth == 1
    graph.append(user("other"))
    assert told(session)[-1]["parent_id"] == "m2"


def test_g1_slices_order_and_repetition(session: LCTLSession) -> None:
    graph = three(session)
    graph[1:1] = [user("x"), user("y")]
    assert texts(graph) == ["s", "x", "y", "u", "a"]
    graph[::2] = [system("1"), system("2"), system("3")]
    assert texts(graph) == ["1", "x", "2", "u", "3"]
    graph.sort(key=lambda message: str(message["content"]))
    assert texts(graph) == ["1", "2", "3", "u", "x"]
    graph.reverse()
    graph.remove(user("u"))
    graph *= 2
    graph += [user("end")]
    assert texts(graph) == ["x", "3", "2", "1", "x", "3", "2", "1", "end"]
    assert session.tree.transcript(graph.tip.id if graph.tip else "") == graph
    moved = [event for event in told(session) if event["parent_id"] is None and "copy_of" in event]
    assert moved and all("content" not in event for event in moved)
    with pytest.raises(ValueError):
        graph[::2] = [user("one too few")]
    with pytest.raises(IndexError):
        graph[99] = user("nowhere")
    assert session.tree.transcript(graph.tip.id if graph.tip else "") == graph


def test_g1_what_is_no_message_is_refused(session: LCTLSession) -> None:
    graph = MessageGraph(session)
    for wrong in ("text", 3, None, ["role"]):
        with pytest.raises(TypeError, match="a message is a dict"):
            graph.append(wrong)
    assert graph == [] and told(session) == []


class Answer(pydantic.BaseModel):
    role: str
    content: str | None = None
    refusal: str | None = None


def test_g1_objects_of_sdks_become_dicts(session: LCTLSession) -> None:
    graph = MessageGraph(session)
    graph.append(Answer(role="assistant", content="a"))
    graph.append({"role": "assistant", "content": [Answer(role="x", content="part")]})
    assert graph == [assistant("a"), assistant([{"role": "x", "content": "part"}])]
    json.dumps(graph)


def test_g1_values_json_has_no_form_for_stay(session: LCTLSession) -> None:
    graph = MessageGraph(session)
    file = object()
    graph.append(user([{"type": "file", "file": file}]))
    assert graph[0]["content"][0]["file"] is file
    graph[0]["content"][0]["file"] = 1
    assert len(told(session)) == 1
    graph.append(user("next"))
    assert len(told(session)) == 2


def test_g1_without_a_session_it_is_a_list(session: LCTLSession) -> None:
    graph = three(None)
    assert told(session) != [], "the running code is in a session, which is the graph's"
    assert graph.session is session


def test_g1_outside_any_session_it_is_a_list_and_nothing_more() -> None:
    graph = lctl.MessageGraph()
    graph.append(user("u"))
    graph[0]["content"] = "v"
    assert graph == [user("v")]
    assert graph.tip is None and graph.breaks == [] and graph.previous() is None and graph.depth == 1
    with pytest.raises(UsageError, match="not recorded"):
        graph.versions(0)


def test_g1_what_came_before_an_error_of_an_iterable_is_in_the_list(session: LCTLSession) -> None:
    """As in a list."""

    def failing() -> Iterator[Any]:
        yield user("one")
        raise KeyError("no more")

    graph, model = MessageGraph(session), list[Any]()
    for one in (graph, model):
        with pytest.raises(KeyError):
            one.extend(failing())
    assert graph == model == [user("one")]
    assert [data["content"] for data in told(session)] == ["one"]
