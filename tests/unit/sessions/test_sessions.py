"""Rows S1 to S12 of CONVERSATIONS.md section 4: sessions. Each test names its row."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.conversation.sessions import Sessions
from lctl.conversation.updates import derive
from lctl.errors import UsageError
from lctl.session import LCTLSession, Session
from tests.unit.conversation.events import Log
from tests.unit.sessions.dying import die

SYSTEM = {"role": "system", "content": "Be brief."}
SEEDS = [
    {**SYSTEM, "is_new": False, "timestamp": 1700000000, "details": {"source": "template"}},
    {"role": "user", "content": "Hello", "is_new": True, "timestamp": 1700000001},
]


def codes(sessions: Sessions) -> list[str]:
    return [note.code for note in sessions.diagnostics]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.lctl.json"


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
    assert codes(sessions) == ["number_gap"]
    assert [sessions.at(n)["S"].high_water for n in range(1, 6)] == [0, 1, 4, 4, 4]
    first = Log().add("session_start", session_id="S", seed_messages=SEEDS)
    first.say("u1", session_id="S", message_number=9)
    assert codes(Sessions.of(first.events)) == ["number_gap"]


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


# -- S6 --------------------------------------------------------------------------------------


def result(call: str, details: Any) -> dict[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": call,
        "content": "ok",
        **({} if details is None else {"details": details}),
    }


def test_s6_updates_follow_from_tool_results_in_order() -> None:
    sent, wrote = {"type": "sentEmail", "to": "a"}, {"type": "wroteFile", "path": "p"}
    messages = [
        {"role": "user", "content": "go", "details": sent},  # no tool result
        result("c1", sent),
        result("c1", sent),  # the same once more
        result("c2", {"no": "type"}),
        result("c3", None),
        result("c4", wrote),
        result("c5", sent),  # another call that did the same
    ]
    assert derive(messages) == [sent, wrote, sent]
    assert derive([]) == []


def test_s6_what_steps_recorded_is_compared(path: Path) -> None:
    one, other = {"type": "a"}, {"type": "b"}
    with Session.start(log=path, session_id="S") as s:
        with s.step() as step:
            s.record(result("c1", one), result("c2", other))
            step.update(updates=[one, other])
        assert s.updates == s.recorded_updates == [one, other]
        assert s.update_mismatches == []
        with s.step() as step:
            s.record(result("c3", one))
            step.update(updates=[other])
        (wrong,) = s.update_mismatches
        assert (wrong.position, wrong.recorded, wrong.derived) == (2, other, one)


def test_s6_s9_a_reducer_makes_the_state_of_what_tools_report(path: Path) -> None:
    def reduce(state: Any, update: Any) -> Any:
        return {"sent": [*state["sent"], update["to"]]}

    def started(log: Any) -> Session:
        return Session.start(log=log, session_id="S", state={"sent": []}, reduce=reduce)

    log = LCTLSession(path=path)
    s = started(log)
    with s.step():
        s.record(result("c1", {"type": "sent", "to": "ann"}))
    s.step().__enter__()
    s.record(result("c2", {"type": "sent", "to": "bob"}))
    die(log)
    with LCTLSession(path=path) as log:
        s = started(log)
        assert s.state == {"sent": ["ann"]}
        with s.step():
            s.record(result("c2", {"type": "sent", "to": "bob"}))
        assert s.state == {"sent": ["ann", "bob"]} and s.update_mismatches == []
    hydrated = Session.hydrate(path)
    state: Any = hydrated.at(1).state
    for update in hydrated.updates:
        state = reduce(state, update)
    assert hydrated.state == state == {"sent": ["ann", "bob"]}


# -- S7, S8, S9 ------------------------------------------------------------------------------


def test_s7_totals_at_every_seq_are_the_recount_of_step_ends(path: Path) -> None:
    used: list[dict[str, Any]] = [
        {"tokens": {"input": 10, "output": 2, "cache_read": 4}, "cost": 0.5},
        {"usage": {"prompt_tokens": 7, "completion_tokens": 1}},
        {},
        {"tokens": {"input": 1, "output": 1}, "cost": 0},
    ]
    with Session.start(log=path, session_id="S") as s:
        for n, one in enumerate(used):
            try:
                with s.step() as step:
                    step.update(**one)
                    if n == 3:
                        raise ValueError
            except ValueError:
                pass
    chain = lctl.load(path)
    for seq in range(1, len(chain) + 1):
        ends = [e for e in chain.events if e.type == "step_end" and e.seq <= seq]
        sums = chain.sessions.at(seq)["S"].totals
        tokens = [e.data.get("tokens") or e.data.get("usage") or {} for e in ends]
        assert sums.turns == len(ends)
        assert sums.input == sum(t.get("input", t.get("prompt_tokens", 0)) for t in tokens)
        assert sums.output == sum(t.get("output", t.get("completion_tokens", 0)) for t in tokens)
        assert sums.cached == sum(t.get("cache_read", 0) for t in tokens)
        costs = [e.data["cost"] for e in ends if "cost" in e.data]
        assert sums.cost == (sum(costs) if costs else None)
    assert chain.sessions["S"].totals.failed == 1


def test_s7_no_cost_is_not_a_cost_of_nothing() -> None:
    log = Log().add("session_start", session_id="S").add("step_end", session_id="S", tokens={"input": 1})
    assert Sessions.of(log.events)["S"].totals.cost is None
    log.add("step_end", session_id="S", cost=0)
    assert Sessions.of(log.events)["S"].totals.cost == 0


def test_s7_what_a_step_and_the_model_call_in_it_both_tell_counts_once(path: Path) -> None:
    with Session.start(log=path, session_id="S") as s:
        with s.step() as step:
            with s.log.step("main", kind="llm") as call:
                call.update(tokens={"input": 5, "output": 1})
            step.update(tokens={"input": 5, "output": 1}, cost=0.25)
        with s.log.step("another agent", kind="llm") as call:  # not of this session
            call.update(tokens={"input": 100, "output": 100})
    sums = Session.hydrate(path).totals
    assert (sums.turns, sums.input, sums.output, sums.cost) == (1, 5, 1, 0.25)


def test_s8_running_then_completed_or_failed(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Session.start(log=path, session_id="S") as s:
        s.record(str(1 // 0))
    with Session.start(log=path, session_id="T"):
        pass
    sessions = lctl.load(path).sessions
    assert sessions["S"].status == "failed" and "division" in sessions["S"].error["message"]
    assert sessions["T"].status == "completed" and sessions["T"].error is None
    assert sessions["T"].completed_at and sessions["T"].started_at
    assert sessions.at(1)["S"].status == "running" and sessions.at(1)["S"].completed_at is None


def test_s8_ends_that_contradict_what_is_there() -> None:
    log = Log().add("session_end", session_id="X", status="completed")
    sessions = Sessions.of(log.events)
    assert sessions["X"].status == "completed" and codes(sessions) == ["session_unknown"]
    log = (
        Log()
        .add("session_start", session_id="S")
        .add("session_end", session_id="S", status="failed", error="e")
    )
    log.add("session_end", session_id="S", status="completed").say("u1", session_id="S")
    sessions = Sessions.of(log.events)
    assert (sessions["S"].status, sessions["S"].error) == ("failed", "e")
    assert codes(sessions) == ["session_ended", "session_ended"]
    assert len(sessions["S"].messages) == 1  # nothing is lost


def test_s8_a_completed_session_takes_nothing_more_and_a_failed_one_is_taken_up(path: Path) -> None:
    with (
        pytest.raises(ValueError, match="no"),
        Session.start(log=path, session_id="S", seed_messages=SEEDS) as s,
    ):
        raise ValueError("no")
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        assert s.status == "running"
        s.record("more")
    with Session.start(log=path, session_id="S", seed_messages=SEEDS) as s:
        assert s.status == "completed"
        with pytest.raises(UsageError, match="is completed"):
            s.record("too late")
        with pytest.raises(UsageError, match="is completed"), s.step():
            pass
    sessions = lctl.load(path).sessions
    assert [sessions.at(n)["S"].status for n in (1, 4, 5, 7)] == ["running", "failed", "running", "completed"]
    assert sessions.diagnostics == []


def test_s9_the_state_is_the_latest_snapshot(path: Path) -> None:
    with Session.start(log=path, session_id="S", state={"n": 0}, state_version=2) as s:
        with s.step():
            s.state["n"] = 1
            assert Session.hydrate(s.log).state == {"n": 0}
        with s.step():
            pass
        s.state = {"n": 2, "more": [1]}
    chain = lctl.load(path)
    assert [e.seq for e in chain.events if e.type == "checkpoint"] == [3, 7]
    assert [chain.sessions.at(n)["S"].state["n"] for n in (1, 2, 3, 6, 7)] == [0, 0, 1, 1, 2]
    assert chain.sessions["S"].state_version == 2


def test_s9_no_snapshot_yet(path: Path) -> None:
    with Session.start(log=path, session_id="S") as s:
        assert s.state is None
        s.state = [1]
    assert Session.hydrate(path, at=1).state is None
    assert Session.hydrate(path).state == [1]


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
