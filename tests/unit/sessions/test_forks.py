"""Rows S13 and S14 of CONVERSATIONS.md section 4: forks. Each test names its row."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

import lctl
from lctl.errors import LogNotFound, UsageError
from lctl.kinship import link_to
from lctl.session import Session
from tests.unit.conversation.events import event
from tests.unit.sessions.forking import ANSWER, CALLS, RESULTS, SEEDS, Forked, fork, path

__all__ = ["fork", "path"]  # fixtures


def test_s13_a_fork_begins_with_the_messages_up_to_there(path: Path, fork: Forked) -> None:
    before = path.read_bytes()
    f = fork(5)
    source = Session.hydrate(path)
    assert list(f.messages) == [CALLS, *RESULTS]
    assert f.seed_messages == SEEDS
    assert f.id != "S" and f.conversation != source.conversation
    assert f.parent_conversation == source.conversation
    assert f.trigger == source.trigger and f.model == "m1" and f.tools == ["look"]
    assert f.state == [1]
    assert f.totals == (0, 0, 0, 0, None, 0)
    assert f.inherited == (1, 10, 2, 0, 0.5, 0)
    header = lctl.load(f.log.path).log.chain
    above = lctl.load(path)
    assert header["parent"] == {
        **link_to(above.log.chain, above.id, 9),
        "message_id": "S/5",
        "log": "run.lctl.json",
    }
    f.record("and tomorrow?")
    assert f.high_water == 6 and f.context[-1] == {"role": "user", "content": "and tomorrow?"}
    assert [n.id for n in f.tree.path(f.id + "/6")][:2] == ["S/1", "S/2"]  # the very same messages
    assert path.read_bytes() == before


def test_s13_usage_is_counted_where_it_was_made(path: Path, fork: Forked) -> None:
    f = fork(5)
    with f.step() as step:
        f.record(ANSWER)
        step.update(tokens={"input": 7, "output": 7})
    f.end()
    second = f.fork(path=path.with_name("second.lctl.json"))
    second.record("again")
    assert (f.totals.input, f.inherited.input) == (7, 10)
    assert (second.totals.input, second.inherited.input) == (0, 17)
    assert list(second.messages) == [CALLS, *RESULTS, ANSWER, {"role": "user", "content": "again"}]
    again = Session.hydrate(second.log)
    assert again.inherited == second.inherited and list(again.messages) == list(second.messages)
    second.log.close()
    lineage = lctl.load(second.log.path).sessions
    assert lineage.ancestors(second.conversation) == [f.conversation, Session.hydrate(path).conversation]


def test_s13_where_it_may_be_forked(path: Path, fork: Forked) -> None:
    with pytest.raises(UsageError, match="begins with 2 seed messages"):
        fork(1)
    with pytest.raises(UsageError, match="has 6 messages; there is no message 7"):
        fork(7)
    with pytest.raises(UsageError, match="has no message nobody"):
        fork("nobody")
    with pytest.raises(UsageError, match="there is no event 99"):
        fork(seq=99)
    with pytest.raises(UsageError, match="one of error, truncate, synthesize"):
        fork(5, repair="hope")
    assert list(fork(2).messages) == []
    assert len(fork().messages) == 4
    assert len(fork("S/5").messages) == len(fork(seq=8).messages) == len(fork("#8").messages) == 3
    assert not list(path.parent.glob("*.part"))


@pytest.mark.parametrize("at", [3, 4])
def test_s13_a_fork_inside_a_tool_call(fork: Forked, at: int) -> None:
    with pytest.raises(UsageError, match=r"look \(c2\); repair='truncate'"):
        fork(at)
    assert list(fork(at, repair="truncate").messages) == []
    made = fork(at, repair="synthesize")
    assert [m.get("tool_call_id") for m in made.messages] == [None, "c1", "c2"]
    assert made.messages[-1]["content"].startswith("[not executed")
    assert made.messages[1] == RESULTS[0] or at == 3
    assert not made.pending and made.high_water == 5


def test_s13_tool_calls_of_another_dialect(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}
    with Session.start(log=tmp_path / "a.lctl.json", session_id="S") as s:
        s.record("go", call)
        f = s.fork(repair="synthesize")
        (part,) = f.messages[-1]["content"]
        assert (f.messages[-1]["role"], part["type"], part["tool_use_id"]) == ("user", "tool_result", "t1")
        assert not f.pending
        f.log.close()


def test_s13_a_fork_in_the_middle_of_a_stream(tmp_path: Path, fork: Forked) -> None:
    base = [
        event(1, "session_start", session_id="S"),
        event(
            2,
            "message",
            message_id="u",
            session_id="S",
            message_number=1,
            role="user",
            content="x",
            parent_id=None,
        ),
        event(3, "stream_start", message_id="a", session_id="S", message_number=2, parent_id="u"),
        event(4, "stream_chunk", message_id="a", content="He", index=0),
    ]
    place = tmp_path / "streaming.lctl.json"
    place.write_bytes(orjson.dumps({"lctl": "4.0", "chain": {"id": "c"}, "events": base}))
    with pytest.raises(UsageError, match="is not whole"):
        fork(2, source=place)
    assert [m["content"] for m in fork(2, source=place, repair="truncate").messages] == ["x"]
    kept = fork(2, source=place, repair="synthesize")
    assert [m["content"] for m in kept.messages] == ["x", "He"]
    assert not kept.pending and len(kept.context) == 1
    kept.record("go on")
    ended = [*base, event(5, "stream_end", message_id="a"), event(6, "message", role="user", content="later")]
    place.write_bytes(orjson.dumps({"lctl": "4.0", "chain": {"id": "c"}, "events": ended}))
    whole = fork(2, source=place)
    assert [m["content"] for m in whole.messages] == ["x", "He"] and len(whole.context) == 2
    assert "later" not in str(lctl.load(whole.log.path).to_dict())


def test_s13_a_failed_and_a_running_session_can_be_forked(tmp_path: Path) -> None:
    place = tmp_path / "f.lctl.json"
    with pytest.raises(ValueError, match="no"), Session.start(log=place, session_id="S") as s:
        s.record("one")
        running = s.fork(at=1, path=tmp_path / "r.lctl.json")
        assert (running.status, len(running.messages)) == ("running", 1)
        running.log.close()
        raise ValueError("no")
    failed = Session.hydrate(place).fork()
    assert failed.status == "running" and len(failed.messages) == 1
    failed.record("two")
    failed.log.close()


def test_s13_what_is_nested_is_as_it_was_at_the_fork(tmp_path: Path) -> None:
    with Session.start(log=tmp_path / "n.lctl.json", session_id="S") as s:
        with s.step():
            s.record("one")
            inner = Session.start(log=s.log, session_id="N", state={"v": 1})
            inner.record("inside")
            s.record("two")
        inner.record("later")
        inner.state = {"v": 2}
        inner.end()
        f = s.fork(at=2)
        nested = Session.hydrate(f.log, "N")
        assert [m["content"] for m in nested.messages] == ["inside"]
        assert nested.state == {"v": 1} and nested.status == "running"
        f.log.close()


def test_s13_the_new_log_is_never_an_old_one(path: Path, fork: Forked) -> None:
    with pytest.raises(UsageError, match="there is a file already"):
        fork(5, path=path)
    names = {fork(5).log.path.name for _ in range(3)}
    assert len(names) == 3


def test_s13_a_fork_that_holds_only_its_own_events_is_read_with_its_parent(path: Path, fork: Forked) -> None:
    f = fork(5)
    f.record("and tomorrow?")
    f.end()
    f.log.close()
    document = lctl.load(f.log.path).to_dict()
    document["events"] = document["events"][9:]
    linked = path.with_name("linked.lctl.json")
    linked.write_bytes(orjson.dumps(document))
    hydrated = Session.hydrate(linked)
    assert list(hydrated.messages) == list(f.messages) and hydrated.inherited == f.inherited
    alone = path.parent / "elsewhere" / "linked.lctl.json"
    alone.parent.mkdir()
    shutil.copy(linked, alone)
    with pytest.raises(
        LogNotFound, match=r"begins with event 10; what came before is in chain .*put it there"
    ):
        Session.hydrate(alone)


# -- S14 -------------------------------------------------------------------------------------


def test_s14_another_model_and_other_tools_are_in_the_start(fork: Forked) -> None:
    f = fork(5, model={"id": "m2", "context_window": 9}, tools=[{"function": {"name": "send"}}])
    assert (f.model, f.context_window, f.tools) == ("m2", 9, ["send"])
    assert f.tool_definitions == [{"function": {"name": "send"}}]


def test_s14_another_system_prompt_is_another_root(fork: Forked) -> None:
    f = fork(5, system_patch=lambda old: old + " In verse.")
    assert [m["content"] for m in f.seed_messages] == ["Be brief. In verse.", "Weather?"]
    assert list(f.messages) == [CALLS, *RESULTS]
    root = f.tree[f"{f.id}/1"]
    assert [n.id for n in root.versions] == ["S/1", root.id] and root.parent is None
    assert f.tip is not None
    way = f.tip.path
    assert way[0] == root and [n.origin.id for n in way[1:] if n.origin] == ["S/2", "S/3", "S/4", "S/5"]
    assert not any(n.sampled for n in way)  # what the model said to another prompt trains nothing here
    f.record(ANSWER)
    assert f.high_water == 6 and len(f.context) == 6
    assert f.tree.diagnostics == []
    again = Session.hydrate(f.log)
    assert again.context == f.context and again.seed_messages == f.seed_messages


def test_s14_a_patch_that_says_the_same_changes_nothing(fork: Forked) -> None:
    f = fork(5, system_patch="Be brief.")
    assert f.tip is not None and f.tip.id == "S/5"
    assert f.start_data["seed_messages"] == [{"message_id": "S/1"}, {"message_id": "S/2"}]


@pytest.mark.parametrize(
    "first",
    [
        {"role": "developer", "content": "Be brief."},
        {"role": "system", "content": [{"type": "text", "text": "Be "}, {"type": "text", "text": "brief."}]},
    ],
)
def test_s14_a_system_prompt_of_another_form(tmp_path: Path, first: dict[str, Any]) -> None:
    """The patch is given its words, and what says the same changes nothing."""
    with Session.start(log=tmp_path / "p.lctl.json", seed_messages=[first, "hi"]) as s:
        for patch, expected in ((lambda old: f"{old} In verse.", "Be brief. In verse."), ("Be brief.", None)):
            f = s.fork(system_patch=patch)
            assert f.context[0] == (first if expected is None else {**first, "content": expected})
            f.log.close()


def test_s14_a_fork_right_after_a_patched_seed_and_a_patch_without_a_system_prompt(tmp_path: Path) -> None:
    with Session.start(log=tmp_path / "p.lctl.json", seed_messages=SEEDS[:1]) as s:
        f = s.fork(at=1, system_patch="Other.")
        f.record("hi")
        assert [m["content"] for m in f.context] == ["Other.", "hi"]
        g = f.fork(system_patch="Third.")
        assert [m["content"] for m in g.context] == ["Third.", "hi"]
        for one in (f, g):
            one.log.close()
    with Session.start(log=tmp_path / "q.lctl.json") as s:
        s.record("hi")
        with pytest.raises(UsageError, match="no system message"):
            s.fork(system_patch="Other.")
    assert len(list(tmp_path.iterdir())) == 4  # what could not be forked left nothing behind
