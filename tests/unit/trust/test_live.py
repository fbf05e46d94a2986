"""Gates, consensus and routing in a running session, and the same of its log under a what-if."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lctl import LCTLSession, load, what_if
from lctl.errors import FactBlocked, UsageError
from lctl.facts.querying import ledger_of
from lctl.guard import guard
from lctl.trust.consensus import Assessment
from lctl.trust.deriving import rederive
from lctl.trust.policy import Policy
from tests.unit.trust import trustlogs


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LCTLSession]:
    made = trustlogs.session(tmp_path)
    yield made
    made.close()


def data(session: LCTLSession, type: str) -> list[dict[str, Any]]:
    return [event["data"] for event in session.to_dict()["events"] if event["type"] == type]


def test_a_gate_says_and_records(session: LCTLSession) -> None:
    """The decision of the agent whose step runs, with what it rests on."""
    session.add_fact("F1", "text", 0.82, agent="a")
    with session.step("b"):
        assert session.gate("F1") == "warn"
        assert session.gate("F1", agent="a") == "proceed"
        assert session.gate("F9") == "block"
    assert data(session, "gate")[0] == {
        "id": "F1", "decision": "warn", "confidence": 0.779, "stated": 0.82, "hops": 1,
    }  # fmt: skip


def test_a_handoff_by_an_agent_that_is_named(session: LCTLSession) -> None:
    """`agent` says who gives, as it says elsewhere who acts; each giving is a hop."""
    session.add_fact("F1", "text", 0.9, agent="a0")
    for n in range(5):
        session.handoff(f"a{n + 1}", facts=["F1"], agent=f"a{n}")
    assert session.gate("F1", agent="a5") == "warn"
    assert [round(said["confidence"], 2) for said in data(session, "gate")] == [0.70]
    assert [event["from"] for event in data(session, "handoff")] == ["a0", "a1", "a2", "a3", "a4"]


def test_require(session: LCTLSession) -> None:
    """Raises with the history that led there, as asked; says the decision otherwise."""
    with session.step("a"):
        session.add_fact("F1", "text", 0.41)
        assert session.require("F1") == "verify"
        with pytest.raises(FactBlocked, match=r"is only to verify, not to warn, at confidence 0\.41"):
            session.require("F1", "warn")
    session.handoff("b", from_="a", facts=["F1"])
    with pytest.raises(FactBlocked) as caught, session.step("b"):
        session.require("F1")
    blocked = caught.value
    assert str(blocked) == (
        "fact 'F1' is blocked at confidence 0.39 (0.41, 1 hop to b): "
        "[2] a: 0.41 added; [6] b: 0.39 handed over by a, 1 hop"
    )
    assert (blocked.fact, blocked.decision) == ("F1", "block")
    assert [point.cause for point in blocked.history] == ["added", "gate", "gate", "handoff", "gate"]
    with pytest.raises(FactBlocked, match="'F2' is not known"):
        session.require("F2")
    with pytest.raises(UsageError, match="at_least='sure'"):
        session.require("F1", "sure")  # type: ignore[arg-type]
    said = data(session, "error")[-1]
    assert (said["category"], said["type"]) == ("orchestration_error", "fact_blocked")


def test_thresholds_of_the_session(tmp_path: Path) -> None:
    """Settings stand in the log's header, and hold for whoever reads it."""
    settings = {"decay_rate": 1.0, "thresholds": {"proceed": 0.99, "warn": 0.95, "verify": 0.9}}
    with trustlogs.session(tmp_path, confidence=settings) as session:
        session.add_fact("F1", "text", 0.85, agent="a")
        assert session.gate("F1") == "block"
    assert load(session.path).log.chain["confidence"] == settings
    found = ledger_of(load(session.path))
    assert found.policy.thresholds.verify == 0.9
    assert found.facts["F1"].blocked == 1
    again = LCTLSession(path=session.path, confidence={"decay_rate": 0.5})  # an existing log keeps its own
    assert again.gate("F1", agent="z") == "block" and again.watch.ledger.policy.decay_rate == 1.0
    again.close()
    with pytest.raises(UsageError, match="no setting 'rates'"):
        LCTLSession(path=tmp_path / "other.lctl.json", confidence={"rates": 1})
    assert not (tmp_path / "other.lctl.json").exists()


def test_consensus_becomes_the_confidence(session: LCTLSession) -> None:
    """Assessments change nothing by themselves; together they are the fact's confidence."""
    session.add_fact("F1", "text", 0.85, agent="a")
    session.assess("F1", 0.92, "looked at it", agent="b")
    assert session.watch.follow().facts["F1"].stated == 0.85
    found = session.consensus(
        "F1", [{"agent": "c", "confidence": 0.9, "reliability": 0.5}, Assessment("d", 0.88)]
    )
    assert found.assessors == ["a", "b", "c", "d"] and found.agreed
    assert session.watch.follow().facts["F1"].stated == pytest.approx(found.score)
    assert data(session, "fact_modified")[-1]["reason"] == "verified_by_consensus"
    session.assess("F1", 0.1, agent="b")
    assert not session.consensus("F1").agreed
    assert data(session, "fact_modified")[-1]["reason"] == "contested"
    with pytest.raises(UsageError, match="there is no fact 'F9'"):
        session.consensus("F9")


@pytest.mark.parametrize("wrong", [{"agent": "e"}, {"agent": "e", "confidence": 2}, {"confidence": 0.5}, 0.5])
def test_a_consensus_of_what_is_no_assessment(session: LCTLSession, wrong: Any) -> None:
    """Said as such, and none of those beside it is recorded."""
    session.add_fact("F1", "text", 0.85, agent="a")
    with pytest.raises(UsageError, match=r"an assessment is \{agent, confidence, reliability\}"):
        session.consensus("F1", [{"agent": "b", "confidence": 0.9}, wrong])
    assert data(session, "assessment") == []


def test_routing(session: LCTLSession) -> None:
    """By hand, or by a fact's gate; a decision that is not named takes the next more careful model."""
    by_gate = {"proceed": "mini", "verify": "opus"}
    session.add_fact("F1", "text", 0.9)
    session.add_fact("F2", "text", 0.7)
    session.add_fact("F3", "text", 0.1)
    chosen = [session.route_model(fact=id, by_gate=by_gate, role="execution") for id in ("F1", "F2", "F3")]
    assert chosen == ["mini", "opus", "opus"]
    assert data(session, "model_routing")[1] == {
        "decision": "route_to_opus", "model": "opus", "alternatives_considered": ["mini"],
        "reason": "gate of F2: warn", "fact": "F2", "by_gate": by_gate, "role": "execution",
    }  # fmt: skip
    session.route_model("opus", alternatives="gpt-4")
    assert data(session, "model_routing")[-1]["alternatives_considered"] == ["gpt-4"]
    for wrong in ({}, {"by_gate": by_gate}, {"fact": "F1", "by_gate": {"maybe": "x"}}):
        with pytest.raises(UsageError, match="route_model"):
            session.route_model(**wrong)


def test_the_ledger_is_the_same_live_and_offline(session: LCTLSession) -> None:
    """What a session knows of its facts is what the fold of its log says, at any seq."""
    with session:
        session.add_fact("F1", "text", 0.8, agent="a", tags=["x"], severity="high")
        session.handoff("b", from_="a", facts=["F1"])
        session.gate("F1", agent="b")
        session.modify_fact("F1", confidence=0.3, agent="b", reason="refuted")
        live = session.watch.follow()
        known = dict(live.facts)
    chain = load(session.path)
    assert dict(ledger_of(chain).facts) == known
    assert [ledger_of(chain, at).facts["F1"].hops for at in (1, 2, 4)] == [0, 1, 0]
    assert ledger_of(chain, 0).facts == {}


def recorded_review(session: LCTLSession) -> Path:
    """A weak fact, a reviewer's word, a consensus, a gate, a routing, a contract: all at once."""
    with session:
        session.use_contracts({"a": {"outputs": [{"type": "fact", "confidence_min": 0.6}]}})
        with session.step("a"):
            session.add_fact("F1", "text", 0.7)  # 2
        session.assess("F1", 0.9, agent="reviewer")  # 5
        session.consensus("F1", agent="reviewer")  # 6
        with session.step("b"):
            session.require("F1")  # 8
            session.route_model(fact="F1", by_gate={"warn": "mini", "block": "opus"})  # 9
    return session.path


def after(path: Path, type: str, **change: Any) -> list[dict[str, Any]]:
    return [event.data for event in what_if(str(path), **change).chain.events if event.type == type]


def test_what_if_the_reviewer_had_doubted(session: LCTLSession) -> None:
    """Consensus, gate and routing are made anew from the changed assessment; nothing else is."""
    path = recorded_review(session)
    doubt: Any = {"at": 5, "set": {"data.confidence": 0.0}}
    [restated] = after(path, "fact_modified", **doubt)
    assert (restated["confidence"], restated["reason"]) == (0.35, "contested")
    [gated] = after(path, "gate", **doubt)
    assert (gated["decision"], gated["passed"]) == ("block", False)
    assert after(path, "model_routing", **doubt)[0]["model"] == "opus"
    changed = {(one.section, one.name, one.field) for one in what_if(str(path), **doubt).changes}
    assert {("handoffs", "8", "decision"), ("handoffs", "9", "model"), ("facts", "F1", "gate")} <= changed


def test_what_if_an_output_had_been_worse(session: LCTLSession) -> None:
    """The contract's judgement is made anew from the definition in the log."""
    path = recorded_review(session)
    [judged] = after(path, "contract_validation", at=2, set={"data.confidence": 0.5})
    assert judged["status"] == "failed"
    assert judged["errors"][0]["expected"] == "at least 0.6"


def test_what_if_an_event_is_dropped(session: LCTLSession) -> None:
    """Without the fact its gate blocks; without the assessment the author stands alone."""
    path = recorded_review(session)
    assert after(path, "gate", drop=[2, 6])[0]["decision"] == "block"
    assert after(path, "fact_modified", drop=5)[0]["consensus"]["assessors"] == ["a"]


def test_what_was_edited_itself_stays_edited(session: LCTLSession) -> None:
    """An edit of the gate, or of the consensus, is not overruled by what would follow."""
    path = recorded_review(session)
    assert after(path, "gate", at=8, set={"data.decision": "warn"})[0]["decision"] == "warn"
    assert after(path, "fact_modified", at=6, set={"data.confidence": 0.1})[0]["confidence"] == 0.1
    assert after(path, "gate", at=6, set={"data.confidence": 0.1})[0]["decision"] == "block"


def test_what_others_derived_stays_theirs(session: LCTLSession) -> None:
    """A gate that another program decided in its own way is no business of ours."""
    with session:
        session.add_fact("F1", "text", 0.9, agent="a")
        session.emit("gate", {"id": "F1", "decision": "verify"}, agent="a")
    assert after(session.path, "gate", at=1, set={"data.confidence": 0.1}) == [
        {"id": "F1", "decision": "verify"}
    ]


def test_an_unchanged_log_derives_to_itself(session: LCTLSession) -> None:
    """All that a session records of this is what follows from its events."""
    events = list(load(recorded_review(session)).events)
    same = {event.seq: event.seq for event in events}
    assert rederive(events, events, same, (), Policy()) == events


def test_cycles_are_told_once(session: LCTLSession) -> None:
    """As an error with what goes round; the fourth round is the same cycle."""
    session.detect_cycles()
    with session.step("a"):
        for n in range(5):
            session.tool_call("search", {"q": "x"}, "nothing")
            session.tool_call("read", {"n": 1}, "y")
            if n == 1:
                session.add_fact("F1", "between", 0.5)
    [error] = data(session, "error")
    assert (error["category"], error["type"]) == ("orchestration_error", "cycle_detected")
    assert error["message"] == "search → read: the same calls 3 times in a row"
    assert error["context"]["round"] == ["search", "read"] and len(error["context"]["seqs"]) == 6


def test_ids_that_are_numbers(session: LCTLSession) -> None:
    """A fact is found by the id it was added with."""
    session.add_fact(7, "text", 0.9, agent="a")  # type: ignore[arg-type]
    assert session.gate(7, agent="a") == "proceed"  # type: ignore[arg-type]
    assert session.consensus(7).score == 0.9  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork() is of POSIX")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_fork(session: LCTLSession, tmp_path: Path) -> None:
    """The child's facts are those of its own chain, the parent's stay the parent's."""
    session.add_fact("F1", "text", 0.9, agent="a")
    assert session.gate("F1", agent="a") == "proceed"
    child = os.fork()
    if child == 0:
        try:
            said = [session.gate("C1", agent="a")]
            session.add_fact("C1", "text", 0.9, agent="a")
            said.append(session.gate("C1", agent="a"))
            (tmp_path / "said").write_text(" ".join(said))
            session.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert (tmp_path / "said").read_text() == "block proceed"
    assert session.gate("C1", agent="a") == "block"


def test_a_closed_session_still_answers(session: LCTLSession) -> None:
    """Its facts can be asked for; what can no longer be recorded is counted, and not raised."""
    session.add_fact("F1", "text", 0.9, agent="a")
    session.close()
    policy, guard.policy = guard.policy, "report"
    try:
        assert session.gate("F1", agent="a") == "proceed"
        assert session.facts.query("SELECT id FROM facts") == [{"id": "F1"}]
    finally:
        guard.policy = policy
    assert session.lost == 2


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads that change places all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_gates_in_many_threads(session: LCTLSession, switching: None) -> None:
    """Each says what follows from all events before it, though others record, assess and ask meanwhile."""

    def work(n: int) -> None:
        with session.step(f"agent-{n}"):
            for m in range(25):
                session.add_fact(f"F{n}-{m}", "text", 0.9)
                session.assess("shared", (n + m) % 10 / 10)
                session.gate("shared")
                session.consensus("shared")
                session.facts.query("SELECT count(*) AS n FROM facts")

    session.add_fact("shared", "text", 0.9, agent="a")
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    session.close()
    events = list(load(session.path).events)
    same = {event.seq: event.seq for event in events}
    assert rederive(events, events, same, (), Policy()) == events
    assert len(load(session.path).state.facts) == 151
