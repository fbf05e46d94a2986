"""Rows S1 to S5 and S10 to S12 of CONVERSATIONS.md section 4: sessions. Each test names its row."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.conversation.sessions import Sessions
from lctl.errors import UsageError
from lctl.session import LCTLSession, Session
from tests.unit.conversation.events import Log
from tests.unit.sessions.dying import die
from tests.unit.sessions.seeds import SEEDS, SYSTEM, codes


# -- S1, S2 ----------------------------------------------------------------------------------
def test_s1_starting_twice_begins_once(path: Path) -> None:
    for _ in range(2):
        with LCTLSession(path=path) as log:
            s = Session.start(log=log, session_id="S", conversation_id="c", model="m", seed_messages=SEEDS)
            assert s.seed_messages == SEEDS
    chain = lctl.load(path)
    assert [event.type for event in chain.events] == ["session_start", "message", "message"]
    assert len(chain.sessions) == 1


def test_s1_two_starts_of_one_id_are_one_session() -> None:
    given: dict[str, Any] = {"session_id": "S", "conversation_id": "c", "seed_messages": SEEDS}
    sessions = Sessions.of(Log().add("session_start", **given).add("session_start", **given).events)
    assert len(sessions) == 1 and sessions["S"].seed_messages == SEEDS
    assert (sessions.repeats, codes(sessions)) == (1, [])


def test_s1_another_start_of_the_same_id_is_a_conflict_and_the_first_stands(path: Path) -> None:
    log = (
        Log()
        .add("session_start", session_id="S", model="m1")
        .add("session_start", session_id="S", model="m2")
    )
    sessions = Sessions.of(log.events)
    assert sessions["S"].model == "m1"
    assert codes(sessions) == ["session_conflict"]
    with LCTLSession(path=path) as recording:
        Session.start(log=recording, session_id="S", model="m1", seed_messages=SEEDS)
        with pytest.raises(UsageError, match="another model"):
            Session.start(log=recording, session_id="S", model="m2", seed_messages=SEEDS)
        with pytest.raises(UsageError, match="another seed message 2"):
            Session.start(
                log=recording, session_id="S", model="m1", seed_messages=[SYSTEM | SEEDS[0], SYSTEM]
            )
        assert recording.last_seq == 3


def test_s1_seeds_lost_with_the_process_are_added_when_it_starts_again(path: Path) -> None:
    log = LCTLSession(path=path)
    Session.start(log=log, session_id="S", model="m", seed_messages=SEEDS)
    die(log)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[:3])[:-1] + b",\n" + lines[3][:20])  # the second seed is torn
    with LCTLSession(path=path) as log:
        s = Session.start(log=log, session_id="S", model="m", seed_messages=SEEDS)
        assert s.seed_messages == SEEDS and s.high_water == 2
    assert lctl.load(path).sessions.diagnostics == []


def test_s1_no_id_is_ever_required(path: Path) -> None:
    with Session.start(log=path) as one:
        other = Session.start(log=one.log)
        assert one.id != other.id and one.conversation != other.conversation


@pytest.mark.parametrize("seeds", [[], SEEDS, [{"role": "user", "content": "x" * 50_000, "is_new": True}]])
@pytest.mark.parametrize(
    "trigger", [("email", "t1"), {"type": "herald-chat", "id": 7}, "never heard of", None]
)
def test_s2_seeds_are_what_the_model_saw_whatever_the_trigger(path: Path, seeds: Any, trigger: Any) -> None:
    with Session.start(log=path, session_id="S", trigger=trigger, seed_messages=seeds):
        pass
    s = Session.hydrate(path)
    assert s.seed_messages == seeds
    assert [s.between(n, n + 1) for n in range(len(seeds))] == [[seed] for seed in seeds]
    assert s.trigger in (trigger, {"type": "email", "id": "t1"}, {"type": "never heard of"})
    assert [set(one) for one in s.context] == [{"role", "content"}] * len(seeds)


def test_s2_seeds_written_into_the_start_are_read(path: Path) -> None:
    log = Log().add("session_start", session_id="S", seed_messages=SEEDS)
    log.say("u3", session_id="S", message_number=3)
    s = Sessions.of(log.events)["S"]
    assert s.seed_messages == SEEDS
    assert list(s.messages) == [{"role": "user", "content": "u3"}]
    assert len(s.context) == 3 and s.high_water == 3


# -- S3, S4, S5 ------------------------------------------------------------------------------
def test_s3_numbers_count_from_one_seeds_included(path: Path) -> None:
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        assert s.record("one", {"role": "assistant", "content": "two"}) == 4
        assert [number for number, _ in s.numbered()] == [1, 2, 3, 4]
        assert s.high_water == 4


def test_s3_a_number_delivered_again_is_one_message(path: Path) -> None:
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        s.record("one")
        before = s.log.last_seq
        assert s.record("one", number=3) == 3
        assert s.log.last_seq == before
        assert s.record("one", "two", number=3) == 4
        assert [m["content"] for m in s.messages] == ["one", "two"]
        with pytest.raises(UsageError, match="says something else"):
            s.record("other", number=3)


def test_s3_in_a_log_too_under_fresh_ids() -> None:
    log = Log().add("session_start", session_id="S")
    log.say("u1", session_id="S", message_number=1, content="x")
    log.say("u1-again", session_id="S", message_number=1, content="x")
    tree_and_sessions = Sessions.of(log.events)
    assert len(tree_and_sessions["S"].messages) == 1
    log.say("u1-other", session_id="S", message_number=1, content="y")
    sessions = Sessions.of(log.events)
    assert [m["content"] for m in sessions["S"].messages] == ["x"]
    assert [note.code for note in sessions["S"].tree.diagnostics] == ["msg_conflict"]


def test_s3_gaps_are_told_and_the_mark_never_goes_back() -> None:
    log = Log().add("session_start", session_id="S")
    log.say("u1", session_id="S", message_number=1).say("u2", session_id="S", message_number=4)
    log.add("step_end", session_id="S", to_message_number=4).add(
        "step_end", session_id="S", to_message_number=2
    )
    sessions = Sessions.of(log.events)
    assert [note.code for note in sessions["S"].tree.diagnostics] == ["number_gap"]
    assert [note.text for note in sessions.diagnostics] == [
        "message 4 of session S came after 1",
        "session S goes back from message 4 to 2",
    ]
    assert [sessions.at(n)["S"].high_water for n in range(1, 6)] == [0, 1, 4, 4, 4]
    first = Log().add("session_start", session_id="S", seed_messages=SEEDS)
    first.say("u1", session_id="S", message_number=9)
    assert codes(Sessions.of(first.events)) == ["number_gap"]


def test_s3_a_gap_left_by_the_program_is_told_and_not_counted(path: Path) -> None:
    """Numbers 4 to 98 are nobody's; `repr` counts what there is."""
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        s.record("one")
        assert s.record("two", number=99) == 99
        assert "4 messages" in repr(s) and s.high_water == 99
        s.record("three")
        assert "5 messages" in repr(s)
    notes = lctl.load(path).sessions.diagnostics
    assert [note.text for note in notes] == ["message 99 of session S came after 3"]


@pytest.mark.parametrize("given", [{"content": "x"}, {}, {"role": None, "content": "x"}, {"role": 3}])
def test_s3_a_dict_that_does_not_say_whose_it_is(path: Path, given: dict[str, Any]) -> None:
    """It is no message: none of what it was given with is recorded."""
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        before = s.log.last_seq
        with pytest.raises(UsageError, match="a dict without a role is no message"):
            s.record("one", given)
        assert s.log.last_seq == before
        assert s.record({"content": "x"}, role="tool") == 3
    with pytest.raises(UsageError, match="it has content"):
        Session.start(log=path, session_id="T", seed_messages=[{"content": "x"}])


@pytest.mark.parametrize(
    "given",
    [
        {"type": "function_call_output", "call_id": "c1", "output": "r"},
        {"type": "reasoning", "summary": []},
        {"parts": [{"text": "x"}]},
    ],
)
def test_s3_what_an_api_takes_without_a_role(path: Path, given: dict[str, Any]) -> None:
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        assert s.record(given) == 3


def test_s3_a_secret_that_the_log_does_not_hold_is_the_same_message(path: Path) -> None:
    secret = "my key is sk-proj-" + "a1B2c3D4" * 6
    with Session.start(log=path, session_id="S") as s:
        s.record(secret)
        assert "sk-proj-a1B2" not in str(s.messages)
        assert s.record(secret, number=1) == 1


def test_s4_messages_come_before_the_end_of_their_step(path: Path) -> None:
    with Session.start(log=path, session_id="S") as s, s.step("answer", agent="writer") as step:
        s.record("one", "two")
        s.state = {"n": 1}
        step.update(tokens={"input": 3, "output": 4})
    events = lctl.load(path).events
    assert [e.type for e in events] == [
        *("session_start", "step_start", "message", "message", "checkpoint", "step_end", "session_end")
    ]
    end = events[5]
    assert end.data["to_message_number"] == 2 and end.step == 2 and end.agent == "writer"
    assert all(e.step == 2 for e in events[2:6])


def test_s4_a_step_that_was_left_is_pending_and_its_repetition_adds_nothing(path: Path) -> None:
    def run(upto: int) -> Session:
        s = Session.start(log=LCTLSession(path=path), session_id="S", model="m", seed_messages=SEEDS)
        step = s.step("answer").__enter__()
        for message in ["one", "two", "three"][:upto]:
            s.record(message)
        if upto == 3:
            step.__exit__(None, None, None)
        return s

    left = run(2)
    die(left.log)
    hydrated = Session.hydrate(path)
    assert [m["content"] for m in hydrated.messages] == ["one", "two"]
    assert hydrated.pending_step == 4 and hydrated.pending
    done = run(3)
    assert [m["content"] for m in done.messages] == ["one", "two", "three"]
    assert not done.pending and done.totals.turns == 1
    done.log.close()
    assert [e.data.get("content") for e in lctl.load(path).events if e.type == "message"][2:] == [
        "one",
        "two",
        "three",
    ]
    assert lctl.load(path).tree.diagnostics == []


def test_s4_who_goes_on_instead_of_repeating_adds_to_what_is_there(path: Path) -> None:
    log = LCTLSession(path=path)
    s = Session.start(log=log, session_id="S", model="m")
    s.step("answer").__enter__()
    s.record("one")
    die(log)
    with LCTLSession(path=path) as log:
        s = Session.start(log=log, session_id="S", model="m")
        with s.step("answer") as step:
            assert step.repeats
            s.record("two", "one")  # "one" again is another message here
        assert [m["content"] for m in s.messages] == ["one", "two", "one"]


def test_s5_a_range_is_what_a_step_recorded(path: Path) -> None:
    calls = [{"id": f"c{n}", "function": {"name": "f", "arguments": "{}"}} for n in (1, 2)]
    produced: list[list[Any]] = []
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        for messages in (
            [{"role": "assistant", "content": None, "tool_calls": calls}]
            + [{"role": "tool", "tool_call_id": f"c{n}", "content": "r"} for n in (2, 1)],
            [],
            [{"role": "assistant", "content": "done"}],
        ):
            with s.step():
                s.record(*messages)
            produced.append(messages)
    hydrated = Session.hydrate(path)
    marks = [2] + [data["to_message_number"] for data in hydrated.turn_ends()]
    assert [hydrated.messages(a, b) for a, b in pairwise(marks)] == produced
    assert hydrated.messages(0, 2) == SEEDS and hydrated.messages(1, 3) == [SEEDS[1], produced[0][0]]
    assert hydrated.messages() == SEEDS + [one for part in produced for one in part]
    assert [m["tool_call_id"] for m in hydrated.context[3:5]] == ["c2", "c1"]


# -- S10, S11, S12 ---------------------------------------------------------------------------
def test_s10_the_prompt_of_every_call_can_be_had_again(path: Path) -> None:
    hashes = {}
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        for n in range(3):
            with s.step():
                s.record(f"question {n}")
                hashes[s.high_water + 1] = s.prompt_hash()
                s.record({"role": "assistant", "content": f"answer {n}"}, sampled=True)
    hydrated = Session.hydrate(path)
    assert {n: hydrated.prompt_hash(n) for n in hashes} == hashes
    assert [one["role"] for one in hydrated.prompt(4)] == ["system", "user", "user"]


def test_s10_what_is_unfinished_is_not_read_by_a_model() -> None:
    log = Log().add("session_start", session_id="S").say("u1", None, session_id="S", message_number=1)
    log.add("stream_start", message_id="a1", session_id="S", message_number=2, parent_id="u1")
    log.add("stream_chunk", message_id="a1", content="He", index=0)
    s = Sessions.of(log.events)["S"]
    assert s.pending.streaming == ("a1",) and len(s.context) == 1 and s.messages[-1]["content"] == "He"
    log.add("stream_end", message_id="a1", status="aborted")
    s = Sessions.of(log.events)["S"]
    assert not s.pending and len(s.context) == 1
    log.add("stream_start", message_id="a2", session_id="S", message_number=3, parent_id="u1", fork_of="a1")
    log.add("stream_chunk", message_id="a2", content="Hello", index=0).add("stream_end", message_id="a2")
    assert [m["content"] for m in Sessions.of(log.events)["S"].context] == ["u1", "Hello"]


def test_s10_sessions_that_are_not_there(path: Path) -> None:
    with Session.start(log=path, session_id="S"):
        pass
    with pytest.raises(UsageError, match=r"no session X at event 2; it has S"):
        Session.hydrate(path, "X")
    with pytest.raises(UsageError, match="it has none"):
        Session.hydrate(path, at=0)
    with pytest.raises(UsageError, match="can only be read"):
        Session.hydrate(path).record("x")
    at: Any = "2"
    with pytest.raises(UsageError, match=r"at\('2'\): it takes the number of an event, such as 2"):
        Session.hydrate(path).at(at)
    with pytest.raises(UsageError, match=r"at\('2'\): it takes"):
        Session.hydrate(path, at=at)


def test_s3_many_threads_record_into_one_session(path: Path) -> None:
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:

        def record(name: int) -> list[int]:
            return [s.record(f"{name}.{n}") for n in range(25)]

        with ThreadPoolExecutor(8) as pool:
            numbers = [number for part in pool.map(record, range(8)) for number in part]
    assert sorted(numbers) == list(range(3, 203))
    hydrated = Session.hydrate(path)
    assert len(hydrated.context) == 202 and hydrated.tree.diagnostics == []
    told = [m["content"] for m in hydrated.messages]
    assert all([one for one in told if one[0] == str(n)] == [f"{n}.{k}" for k in range(25)] for n in range(8))


def test_s10_async_code_records_as_well(path: Path) -> None:
    async def run() -> None:
        async with Session.start(log=path, session_id="S") as s, s.step():
            await asyncio.sleep(0)
            s.record("one")

    asyncio.run(run())
    assert Session.hydrate(path).totals.turns == 1


def test_s11_the_latest_session_of_a_conversation_by_seq_not_by_clock(path: Path) -> None:
    log = Log()
    for n, (id, conversation) in enumerate([("A", "c"), ("B", "c"), ("C", "d")]):
        log.add("session_start", session_id=id, conversation_id=conversation)
        log.events[-1]["timestamp"] = f"2026-01-0{9 - n}T00:00:00Z"
    sessions = Sessions.of(log.events)
    latest = sessions.latest("c")
    assert latest is not None and latest.id == "B"
    assert sessions.latest("none") is None
    before = sessions.at(1).latest("c")
    assert before is not None and before.id == "A"
    with Session.start(log=path, session_id="S", conversation_id="c") as outer:
        with outer.step(), Session.start(session_id="N", conversation_id="n", log=outer.log) as nested:
            nested.record("inside")
        found = outer.fork(path=path.with_name("f.lctl.json"))
        assert found.conversation != "c"
        found.close()
    chain = lctl.load(path)
    assert [one.id for one in chain.sessions] == ["S", "N"]
    last = chain.sessions.latest("c")
    assert last is not None and last.id == "S"
    assert list(chain.sessions["S"].messages) == [] and chain.sessions["N"].high_water == 1


def test_s12_lineage_of_conversations() -> None:
    log = Log()
    for id, conversation, parent in [
        ("A", "root", None),
        ("B", "left", "root"),
        ("C", "right", "root"),
        ("D", "left", "root"),
        ("E", "deep", "left"),
        ("F", "lost", "gone"),
    ]:
        log.add("session_start", session_id=id, conversation_id=conversation, parent_conversation_id=parent)
    sessions = Sessions.of(log.events)
    tree = sessions.lineage("root")
    assert [child.conversation for child in tree.children] == ["left", "right"]
    assert [one.id for one in tree.children[0].sessions] == ["B", "D"]
    assert tree.children[0].children[0].conversation == "deep"
    assert sessions.ancestors("deep") == ["left", "root"]
    lost = sessions.lineage("lost")
    assert lost.missing and lost.parent == "gone" and sessions.ancestors("lost") == ["gone"]
    assert sessions.at(1).lineage("root").children == []
    with pytest.raises(UsageError, match="no session belongs"):
        sessions.lineage("gone")


def test_s12_conversations_that_come_of_themselves_are_told() -> None:
    log = Log()
    for id, parent in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")):
        log.add("session_start", session_id=id, conversation_id=id, parent_conversation_id=parent)
    sessions = Sessions.of(log.events)
    assert codes(sessions) == ["session_cycle", "session_cycle"]
    assert sessions.ancestors("a") == ["b", "c"]
    assert [child.conversation for child in sessions.lineage("c").children] == ["b"]
