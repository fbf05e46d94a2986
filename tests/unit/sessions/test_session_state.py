"""Rows S6 to S9 of CONVERSATIONS.md section 4: updates, totals, status and state. Each test names its row."""

from __future__ import annotations

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
from tests.unit.sessions.seeds import SEEDS, codes


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


def test_s9_a_state_of_what_json_has_no_form_for(path: Path) -> None:
    """Numbers past 64 bits and such as are not finite come back as they were; an object does no harm."""
    with Session.start(log=path, session_id="s1", state={"seen": 2**70}) as live:
        live.state["least"] = [-(2**65), float("-inf")]
        live.snapshot()
        assert live.state == {"seen": 2**70, "least": [-(2**65), float("-inf")]}
        live.state = {"own": {"$int": "5"}, "most": 2**64}
        live.state["handle"] = object()
    found = Session.hydrate(path, "s1")
    assert [found.at(seq).state for seq in (1, 2, 3)] == [
        {"seen": 2**70},
        {"seen": 2**70, "least": [-(2**65), float("-inf")]},
        {"own": {"$int": "5"}, "most": 2**64},
    ]
    assert found.state["handle"]["$type"] == "object"
    with Session.start(log=path, session_id="s1", state={"seen": 2**70}) as again:
        assert again.state["most"] == 2**64
