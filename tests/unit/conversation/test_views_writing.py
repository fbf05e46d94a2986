"""Row V10 of CONVERSATIONS.md section 4: writing through a view. Each test names its row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl import LCTLSession
from lctl.conversation.tree import Tree
from lctl.errors import RecordingError, UsageError
from tests.unit.conversation.events import chain, ids
from tests.unit.conversation.viewing import Desk, heard


def kept(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: data[key] for key in keys if key in data}


def test_v10_send_goes_below_the_last_message_shown() -> None:
    desk = Desk(chain("u1", "a1").say("b1", "u1"))
    view = desk.tree.view()
    view.select("a1")
    id = view.send("hi")
    assert desk.last == {"message_id": id, "parent_id": "a1", "role": "user", "content": "hi"}
    assert ids(view.nodes) == ["u1", "a1", id]


def test_v10_send_begins_an_empty_conversation() -> None:
    desk = Desk()
    view = desk.tree.view("talk")
    id = view.send({"role": "system", "content": "Be brief."}, message_id="s1", name="boss", agent="helper")
    assert id == "s1"
    assert desk.events[-1]["agent"] == "helper"
    assert desk.last == {
        "message_id": "s1",
        "parent_id": None,
        "role": "system",
        "content": "Be brief.",
        "name": "boss",
        "conversation_id": "talk",
    }
    assert ids(view.nodes) == ["s1"]
    assert desk.tree.view().nodes == []


def test_v10_what_is_sent_is_shown_on_an_empty_page_too() -> None:
    view = Desk(chain("u1", "a1")).tree.view(limit=0)
    id = view.send("hi")
    assert ids(view.nodes) == [id]
    assert view.has_older


def test_v10_ids_are_never_those_of_messages() -> None:
    desk = Desk(chain("u1", "v2", "v3"))
    view = desk.tree.view()
    made = [view.send(str(n)) for n in range(5)]
    assert len({*made, "u1", "v2", "v3"}) == 8
    with pytest.raises(UsageError, match="a message u1 already"):
        view.send("x", message_id="u1")


def test_v10_edit_is_a_version_at_the_same_place() -> None:
    desk = Desk(chain("u1", "a1", "u2", "a2"))
    view = desk.tree.view()
    id = view.edit("u2", "better")
    assert kept(desk.last, "parent_id", "fork_of", "role", "content") == {
        "parent_id": "a1",
        "fork_of": "u2",
        "role": "user",
        "content": "better",
    }
    assert ids(view.nodes) == ["u1", "a1", id]
    assert ids(view.versions("u2")) == ["u2", id]
    assert ids(desk.tree.path("a2")) == ["u1", "a1", "u2", "a2"]


def test_v10_edit_of_the_first_message() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.view(limit=1)
    id = view.edit("u1", "other")
    assert kept(desk.last, "parent_id", "fork_of") == {"parent_id": None, "fork_of": "u1"}
    assert ids(view.nodes) == [id]


def test_v10_an_edit_to_the_same_text_is_a_version_too() -> None:
    desk = Desk(chain("u1"))
    view = desk.tree.view()
    assert view.edit("u1", "u1") != "u1"
    assert view.siblings("u1").count == 2


def test_v10_edit_of_a_hidden_sibling_shows_it() -> None:
    desk = Desk(chain("u1", "a1", "u2").say("b1", "u1").say("b2", "b1", "user"))
    view = desk.tree.view()
    view.select("u2")
    id = view.edit("b2", "new")
    assert kept(desk.last, "parent_id", "fork_of") == {"parent_id": "b1", "fork_of": "b2"}
    assert ids(view.nodes) == ["u1", "b1", id]


def test_v10_regenerate_streams_a_version() -> None:
    desk = Desk(chain("u1", "a1", "u2"))
    view = desk.tree.view()
    told = heard(view)
    id = view.regenerate("a1")
    assert desk.events[-1]["type"] == "stream_start"
    assert desk.last == {"message_id": id, "parent_id": "u1", "fork_of": "a1", "role": "assistant"}
    assert ids(view.nodes) == ["u1", id]
    assert view.messages() == [{"role": "user", "content": "u1"}]
    view.update(id, chunk="He")
    view.update(id, chunk="llo")
    assert view.nodes[-1].text == "Hello"
    view.update(id, status="complete")
    assert desk.last == {"message_id": id, "status": "complete", "total_chunks": 2}
    assert view.messages()[-1] == {"role": "assistant", "content": "Hello"}
    assert [kind for kind, _ in told] == ["path", "update", "update", "update", "turn"]
    assert desk.tree.diagnostics == []


def test_v10_regenerate_with_content_and_again() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.view()
    second = view.regenerate("a1", "two")
    third = view.regenerate(second, "three", model="m")
    assert kept(desk.last, "parent_id", "fork_of", "model") == {
        "parent_id": "u1",
        "fork_of": second,
        "model": "m",
    }
    assert ids(view.versions("a1")) == ["a1", second, third]


def test_v10_regenerate_the_third_message_of_five() -> None:
    """An agent's run: two calls, their results, an answer."""
    log = chain("u1").say("a1", "u1", tool_calls=[{"id": "c1"}]).say("t1", "a1", tool_call_id="c1")
    log.say("a2", "t1", tool_calls=[{"id": "c2"}]).say("t2", "a2", tool_call_id="c2").say("a3", "t2")
    desk = Desk(log)
    view = desk.tree.view()
    id = view.regenerate("a2")
    assert kept(desk.last, "parent_id", "fork_of") == {"parent_id": "t1", "fork_of": "a2"}
    assert ids(view.nodes) == ["u1", "a1", "t1", id]
    view.select("a2")
    other = view.regenerate("t2", "tried again")
    assert kept(desk.last, "role", "tool_call_id", "parent_id") == {
        "role": "tool",
        "tool_call_id": "c2",
        "parent_id": "a2",
    }
    assert ids(view.nodes) == ["u1", "a1", "t1", "a2", other]
    with pytest.raises(UsageError, match="edit it"):
        view.regenerate("u1")


def test_v10_of_parallel_results_one_is_an_alternative() -> None:
    log = chain("u1").say("a1", "u1", tool_calls=[{"id": "c1"}, {"id": "c2"}])
    desk = Desk(log.say("t1", "a1", tool_call_id="c1").say("t2", "a1", tool_call_id="c2"))
    view = desk.tree.view()
    id = view.regenerate("t2", "again")
    assert ids(view.nodes) == ["u1", "a1", "t1", id]
    assert view.siblings(id).ids == ["t2", id]
    assert desk.tree.diagnostics == []


def test_v4_what_was_asked_for_is_shown_when_it_comes() -> None:
    """The writer of a remote log: what is sent comes back later, after messages of others."""
    desk = Desk(chain("u1", "a1"))
    sent: list[tuple[str, dict[str, Any]]] = []

    class Remote:
        def emit(self, type: str, data: dict[str, Any], *, agent: str | None = None) -> int:
            sent.append((type, data))
            return 99

    view = Tree(desk.tree.forest, writer=Remote()).view()
    id = view.regenerate("a1")
    assert ids(view.nodes) == ["u1", "a1"]
    desk.say("other", "u1", fork_of="a1")
    assert ids(view.nodes) == ["u1", "a1"]
    desk.emit(*sent.pop())
    assert ids(view.nodes) == ["u1", id]
    edited = view.edit("u1", "x")
    view.select("a1")  # the user has gone elsewhere meanwhile
    desk.emit(*sent.pop())
    assert ids(view.nodes) == ["u1", "a1"]
    assert edited in desk.tree


def test_v4_an_answer_that_others_record_is_awaited() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.view()
    view.expect("a1")
    desk.say("elsewhere", None, "user")
    desk.say("a2", "u1", sampled=True)
    assert ids(view.nodes) == ["u1", "a2"]
    desk.say("a3", "u1", sampled=True)
    assert ids(view.nodes) == ["u1", "a2"]
    view.expect("a2")
    view.select("a1")
    desk.say("a4", "u1", sampled=True)
    assert ids(view.nodes) == ["u1", "a1"]


def test_v10_update_ends_a_stream_or_edits() -> None:
    desk = Desk(chain("u1"))
    view = desk.tree.view()
    id = view.send("", role="assistant", status="streaming")
    view.update(id, chunk="par")
    view.update(id, "whole", sampled=True)
    assert kept(desk.last, "message_id", "parent_id", "role", "content", "status", "sampled") == {
        "message_id": id,
        "parent_id": "u1",
        "role": "assistant",
        "content": "whole",
        "status": "complete",
        "sampled": True,
    }
    assert view.nodes[-1].status == "complete"
    edited = view.update(id, "another")
    assert edited != id
    assert desk.last["fork_of"] == id
    for wrong in ({"chunk": "x"}, {"status": "aborted"}):
        with pytest.raises(UsageError, match="no more pieces"):
            view.update(edited, **wrong)


def test_v10_an_aborted_stream_keeps_its_text() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.view()
    id = view.regenerate("a1")
    view.update(id, chunk="half of", status="aborted")
    assert (view.nodes[-1].text, view.nodes[-1].status) == ("half of", "aborted")
    assert view.messages()[-1]["role"] == "user"
    assert view.messages(include_partial=True)[-1]["content"] == "half of"


def test_v10_what_cannot_be_recorded_is_said() -> None:
    class Full:
        def emit(self, type: str, data: dict[str, Any], *, agent: str | None = None) -> int:
            return 0

    view = Tree(chain("u1").tree.forest, writer=Full()).view()
    with pytest.raises(RecordingError, match="could not be recorded"):
        view.send("x")
    with pytest.raises(UsageError, match="only be read"):
        chain("u1").tree.view().send("x")


def test_v10_through_a_session_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "run.lctl.json"
    with LCTLSession(path=path) as session:
        view = session.tree.view()
        first = view.send("2+2?")
        answer = view.send("4", role="assistant")
        view.edit(first, "3+3?")
        six = view.send("6", role="assistant")
        view.select(answer, durable=True)
        shown = ids(view.nodes)
    read = lctl.load(path).tree
    assert ids(read.view().nodes) == shown == [first, answer]
    assert ids(read.view(name="other").nodes)[-1] == six


def test_v10_a_stream_ends_in_one_of_three_ways() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.view()
    id = view.regenerate("a1")
    with pytest.raises(UsageError, match="status='done': a streamed message is complete, aborted, error"):
        view.update(id, status="done")
    assert view.update(id, chunk="x", status="aborted") == id
    assert desk.tree[id].status == "aborted"
