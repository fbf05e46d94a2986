"""Row V9 of CONVERSATIONS.md section 4, and all of a view against a naive model. Each test names its row."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.conversation.following import Turn
from lctl.conversation.view import Change
from lctl.errors import UsageError
from tests.seeds import seeds, tries
from tests.unit.conversation.events import Log, chain, ids
from tests.unit.conversation.viewing import Desk, compare, heard


def test_v9_what_is_not_shown_is_not_told() -> None:
    desk = Desk(chain("u1", "a1", "u2").say("b1", "u1"))
    view = desk.tree.view()
    view.select("u2")
    told = heard(view)
    desk.say("b2", "b1", "user")
    desk.emit("stream_start", {"message_id": "b3", "parent_id": "b2"})
    desk.emit("stream_chunk", {"message_id": "b3", "content": "x"})
    desk.emit("message_alias", {"alias": "other", "message_id": "a1"})
    desk.emit("checkpoint", {})
    assert told == []
    assert [node.id for node in desk.tree][-1] == "b3"


def test_v9_a_visible_chunk_is_an_update_and_another_path_a_change() -> None:
    desk = Desk(chain("u1", "a1", "u2"))
    view = desk.tree.view()
    told = heard(view)
    desk.emit("stream_start", {"message_id": "a2", "parent_id": "u2"})
    desk.emit("stream_chunk", {"message_id": "a2", "content": "x"})
    desk.emit("stream_end", {"message_id": "a2"})
    assert told == [
        ("path", Change(3, [], ["a2"])),
        ("update", "a2"),
        ("update", "a2"),
        ("turn", Turn("u2", "complete", "a2")),
    ]


def test_v9_hidden_then_selected_is_one_change() -> None:
    desk = Desk(chain("u1", "a1", "u2"))
    view = desk.tree.view()
    desk.say("b1", "u1")
    told = heard(view)
    desk.say("b2", "b1", "user")
    desk.say("b3", "b2")
    view.select("b3")
    assert told == [("path", Change(1, ["a1", "u2"], ["b1", "b2", "b3"]))]


def test_v9_withheld_messages_are_silent_and_older_ones_are_told_once() -> None:
    desk = Desk()
    desk.emit("stream_start", {"message_id": "a0", "parent_id": None})
    desk.say("u1", "a0", "user")
    desk.say("a1", "u1")
    view = desk.tree.view(limit=1)
    told = heard(view)
    desk.emit("stream_chunk", {"message_id": "a0", "content": "x"})
    desk.say("u1b", "a0", "user", fork_of="u1")
    assert told == []
    view.load_older(2)
    assert told == [("history", ["a0", "u1"])]
    desk.emit("stream_chunk", {"message_id": "a0", "content": "y"})
    assert told[1:] == [("update", "a0")]


def test_v9_turns_that_are_shown_begin_and_end() -> None:
    desk = Desk(chain("u1", "a1"))
    view = desk.tree.view()
    told: list[Turn] = []
    view.on("turn", told.append)
    desk.say("u2", "a1", "user", turn_id="t7")
    desk.say("a2", "u2", turn_id="t7", content="", tool_calls=[{"id": "c1", "function": {"name": "f"}}])
    desk.say("t2", "a2", "tool", tool_call_id="c1", turn_id="t7")
    desk.say("a3", "t2", turn_id="t7")
    desk.say("b1", "u1", turn_id="hidden")
    desk.say("b2", "b1", "user", turn_id="hidden")
    desk.emit("stream_start", {"message_id": "a4", "parent_id": "a3"})
    desk.emit("stream_end", {"message_id": "a4", "status": "aborted"})
    assert told == [Turn("t7", "start", "u2"), Turn("t7", "complete", "a3"), Turn("t7", "aborted", "a4")]


def test_v9_listening_ends() -> None:
    desk = Desk(chain("u1"))
    view = desk.tree.view()
    told: list[Change] = []
    stop = view.on("path", told.append)
    desk.say("a1", "u1")
    stop()
    stop()
    desk.say("u2", "a1", "user")
    assert [change.added for change in told] == [["a1"]]
    with pytest.raises(UsageError, match="path, update, turn, history"):
        view.on("paths", print)  # type: ignore[arg-type]


def test_v9_a_listener_may_write_and_events_keep_their_order() -> None:
    desk = Desk(chain("u1"))
    view, other = desk.tree.view(), desk.tree.view()

    def answer(change: Change) -> None:
        last = view.nodes[-1]
        if last.role == "user":
            view.send(f"answer to {last.id}", role="assistant")
            assert view.nodes[-1].text == f"answer to {last.id}"

    view.on("path", answer)
    told: list[str] = []
    view.on("path", lambda change: told.extend(change.added))
    seen: list[str] = []
    other.on("path", lambda change: seen.extend(change.added))
    desk.tree.subscribe(lambda kind, id, seq: seen.append(f"{kind} {id}"))
    desk.say("u2", "u1", "user")
    answered = view.nodes[-1].id
    assert told == ["u2", answered]
    assert [one for one in seen if " " not in one] == ["u2", answered]
    assert [one for one in seen if " " in one] == ["message u2", f"message {answered}"]


def test_v9_an_error_of_a_listener_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lctl.guard import guard

    monkeypatch.setattr(guard, "policy", "report")
    monkeypatch.setattr(guard, "failures", {})
    desk = Desk(chain("u1"))
    view = desk.tree.view()

    def fail(change: Change) -> None:
        raise ValueError("redraw failed")

    view.on("path", fail)
    told = heard(view)
    desk.say("a1", "u1")
    assert [kind for kind, _ in told] == ["path", "turn"]
    assert "redraw failed" in capsys.readouterr().err


def test_v9_tool_results_that_change_places_are_one_change() -> None:
    desk = Desk(chain("u1").say("a1", "u1", tool_calls=[{"id": "c1"}, {"id": "c2"}]))
    desk.say("t2", "a1", "tool", tool_call_id="c2", serial=2)
    view = desk.tree.view()
    told = heard(view)
    desk.say("t1", "a1", "tool", tool_call_id="c1", serial=1)
    assert ids(view.nodes) == ["u1", "a1", "t1", "t2"]
    assert told == [("path", Change(2, ["t2"], ["t1", "t2"]))]


@settings(max_examples=tries(50), deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["own", "pinned"]))
def test_v1_to_v9_as_a_naive_model_has_it(r: random.Random, follow: str) -> None:
    compare(r, follow)  # type: ignore[arg-type]


@pytest.mark.slow
def test_v1_to_v9_ten_thousand_histories() -> None:
    for seed in seeds(0, 10_000):
        compare(random.Random(seed), "pinned" if seed % 2 else "own")


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_v4_latest_shows_the_newest_alternative(r: random.Random) -> None:
    """At every message that is shown the view went to what came last beside it."""
    desk = Desk(Log().say("m0", None))
    view = desk.tree.view(follow="latest")
    shown = ["m0"]
    for n in range(1, r.randint(2, 30)):
        parent = f"m{r.randrange(max(0, n - 5), n)}"
        desk.say(f"m{n}", parent)
        if parent in shown:
            shown = [*shown[: shown.index(parent) + 1], f"m{n}"]
        assert ids(view.nodes) == shown
