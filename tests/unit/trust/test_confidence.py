"""Confidence: what a hop is, what it costs, what gates make of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.errors import UsageError
from lctl.events import Event
from lctl.trust.consensus import Assessment, consensus
from lctl.trust.deriving import gate_data
from lctl.trust.gates import DECISIONS, Thresholds, gate
from lctl.trust.ledger import Ledger
from lctl.trust.numbers import rounded, shown
from lctl.trust.policy import Policy, header_of, policy_of, read_policy
from lctl.trust.standing import decayed
from lctl.trust.timeline import way_of
from tests.seeds import tries
from tests.unit.trust.trustlogs import Raw, added, events, handed, ledger, read

UNIT = st.floats(0, 1, allow_subnormal=False)


def way(*raw: Raw, policy: Policy | None = None) -> str:
    found = ledger(*raw, policy=policy)
    return way_of(found.facts["F1"], found.policy.thresholds).line


def test_the_protocols_number() -> None:
    """0.90 after 5 hops at 0.95 is 0.70: five agents, each handed it by the one before."""
    hops = [handed(to, "F1", giver=giver) for giver, to in zip("abcde", "bcdef", strict=True)]
    fact = ledger(added("F1", 0.90), *hops).facts["F1"]
    assert fact.hops == 5
    assert shown(fact.confidence()) == "0.70"
    assert fact.confidence("a") == 0.90  # to its author it is what it was


def test_events_passing_are_no_hops() -> None:
    """Only crossings count: not tool calls, not the author's own reading, not reading again."""
    idle = [("tool_call", "a", {"tool": "t"})] * 9
    found = ledger(
        added("F1", 0.9), *idle, read("a", "F1"), read("b", "F1"), read("b", "F1"), handed("b", "F1")
    )
    assert found.facts["F1"].hops == 1


def test_reading_from_the_store_is_one_hop_for_everybody() -> None:
    """Ten readers of one store do not wear a fact out for each other."""
    fact = ledger(added("F1", 0.9), *(read(f"r{n}", "F1") for n in range(10))).facts["F1"]
    assert fact.hops == 1
    assert fact.confidence("r9") == fact.confidence("nobody yet") == pytest.approx(0.855)


def test_a_read_may_say_from_whom() -> None:
    """`from` makes it a hop behind that agent's."""
    fact = ledger(added("F1", 0.9), handed("b", "F1"), read("c", "F1", **{"from": "b"})).facts["F1"]
    assert (fact.distance("b"), fact.distance("c")) == (1, 2)


def test_facts_in_older_and_other_forms_are_read() -> None:
    """`ids`, objects with an id, critical and context facts."""
    found = ledger(
        added("F1", 0.9),
        added("F2", 0.9),
        added("F3", 0.9),
        ("fact_read", "b", {"ids": ["F1"]}),
        ("handoff", "a", {"to": "b", "critical_facts": [{"id": "F2"}], "context_facts": ["F3", "F9"]}),
    )
    assert [fact.hops for fact in found.facts.values()] == [1, 1, 1]


def test_rates_by_chain_source_and_fact() -> None:
    """The fact's own rate stands before that of its id, its source, the chain."""
    policy = read_policy({"decay_rate": 0.9, "sources": {"tests": 1.0, "rumour": 0.0}, "facts": {"F3": 0.5}})
    facts = ledger(
        added("F1", 1.0),
        added("F2", 1.0, source="tests"),
        added("F3", 1.0, source="tests"),
        added("F4", 1.0, source="tests", decay_rate=0.7),
        added("F5", 1.0, source="rumour"),
        handed("b", "F1", "F2", "F3", "F4", "F5"),
        policy=policy,
    ).facts.values()
    assert [fact.confidence() for fact in facts] == [0.9, 1.0, 0.5, 0.7, 0.0]


def test_the_policy_stands_in_the_header() -> None:
    """What differs from the protocol's is written, and read again; junk in a log counts as nothing."""
    policy = read_policy({"decay_rate": 0.9, "thresholds": {"proceed": 0.9}})
    assert header_of(policy)["decay_rate"] == 0.9
    assert policy_of({"confidence": header_of(policy)}) == policy
    assert (
        policy_of({"confidence": {"decay_rate": "x", "sources": [], "thresholds": {"warn": 0.99}}})
        == Policy()
    )
    assert policy_of({}, {"confidence": {"method": "decay", "decay_rate": 0.5}}).decay_rate == 0.5


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        ({"rate": 1}, "no setting 'rate'"),
        ({"decay_rate": 2}, "from 0 to 1, not 2"),
        ({"sources": {"x": "y"}}, "sources.x"),
        ({"sources": 1}, "maps names to rates"),
        ({"thresholds": {"low": 1}}, "thresholds are proceed"),
        ({"thresholds": {"proceed": 0.1}}, "go down"),
        (0.9, 'settings such as {"decay_rate": 0.9}, not 0.9'),
    ],
)
def test_a_wrong_policy_is_refused(given_: Any, text: str) -> None:
    """With the key and the value."""
    with pytest.raises(UsageError, match=text):
        read_policy(given_)


@pytest.mark.parametrize(
    ("confidence", "decision"),
    [
        (1.0, "proceed"), (0.80, "proceed"), (0.79, "warn"), (0.60, "warn"),
        (0.59, "verify"), (0.40, "verify"), (0.39, "block"), (0.0, "block"), (None, None),
    ],
)  # fmt: skip
def test_the_automatic_thresholds(confidence: float | None, decision: str | None) -> None:
    """The table of part 3."""
    assert gate(confidence) == decision


def test_gates_for_an_agent() -> None:
    """A gate looks at what the asking agent has; what is unknown blocks, what is unsaid is to be verified."""
    found = ledger(added("F1", 0.82), added("F2", None))
    assert gate_data(found, "F1", "a")["decision"] == "proceed"
    assert gate_data(found, "F1", "b") == {
        "id": "F1", "decision": "warn", "confidence": 0.779, "stated": 0.82, "hops": 1,
    }  # fmt: skip
    assert gate_data(found, "F2", "b")["decision"] == "verify"
    assert gate_data(found, "F9", "b") == {"id": "F9", "decision": "block"}
    assert gate_data(found, "F1", "b", "proceed")["passed"] is False
    with pytest.raises(UsageError, match="at_least='maybe'"):
        gate_data(found, "F1", "b", "maybe")  # type: ignore[arg-type]


def test_timelines() -> None:
    """What stands between the arrows, and behind them."""
    higher: Raw = ("fact_modified", "b", {"id": "F1", "confidence": 0.95})
    lower: Raw = ("fact_modified", "b", {"id": "F1", "confidence": 0.2})
    blocked: Raw = ("gate", "b", {"id": "F1", "decision": "block"})
    assert way(added("F1", None)) == "F1: -"
    assert way(added("F1", 0.9), higher) == "F1: 0.90 → 0.95 (verified)"
    assert way(added("F1", 0.9), higher, handed("c", "F1", giver="b")) == (
        "F1: 0.90 → 0.95 → 0.90 (verified, decayed)"
    )
    assert way(added("F1", 0.9), lower, lower) == "F1: 0.90 → BLOCKED (below threshold)"
    assert way(added("F1", 0.9), lower, higher) == "F1: 0.90 → BLOCKED → 0.95 (verified)"
    assert way(added("F1", 0.3)) == "F1: 0.30 → BLOCKED (below threshold)"
    assert way(added("F1", 0.9), blocked) == "F1: 0.90 → BLOCKED (below threshold)"
    assert way(added("F1", 0.42), handed("b", "F1"), handed("c", "F1", giver="b")) == (
        "F1: 0.42 → BLOCKED (below threshold)"
    )


def test_consensus_of_the_protocol() -> None:
    """0.85 and 0.92 come to 0.88 without conflict, whether weighed alike or by reliability."""
    alike = consensus([Assessment("code-analyzer", 0.85), Assessment("security-reviewer", 0.92)])
    weighed = consensus([Assessment("code-analyzer", 0.85), Assessment("security-reviewer", 0.92, 0.92)])
    for found in (alike, weighed):
        assert (rounded(found.score), found.conflict_level, found.agreement) == (0.88, 0.0, 1.0)
    assert weighed.score < alike.score


def test_conflict_grows_with_distance() -> None:
    """0 against 1 is all of it; who differs by no more than the tolerance agrees."""
    assert consensus([Assessment("a", 0.0), Assessment("b", 1.0)]).conflict_level == 1.0
    some = consensus([Assessment("a", 0.9), Assessment("b", 0.9), Assessment("c", 0.5)])
    assert some.agreement == pytest.approx(1 / 3)
    assert 0 < some.conflict_level < 0.5 and not some.agreed
    assert consensus([Assessment("a", 0.9), Assessment("b", 0.7)], tolerance=0.2).agreed
    assert not consensus([Assessment("a", 0.9)]).agreed  # nobody else said anything
    with pytest.raises(UsageError, match="at least one"):
        consensus([])
    with pytest.raises(UsageError, match="an assessment is"):
        consensus([{"agent": "a", "confidence": 2}])


@pytest.mark.parametrize(
    "wrong",
    [
        Assessment("a", 1.5), Assessment("a", -0.1), Assessment("a", 0.5, -1.0), Assessment("a", 0.5, 2.0),
        Assessment("a", float("nan")), Assessment("a", "high"),  # type: ignore[arg-type]
        0.5, ("a", 0.5), None,
    ],
)  # fmt: skip
def test_what_is_no_assessment_is_refused_however_it_is_made(wrong: Any) -> None:
    """Out of range, an agent would pull the others out of it."""
    with pytest.raises(UsageError, match="an assessment is"):
        consensus([Assessment("b", 0.5), wrong])


def test_a_decay_rate_of_nothing_may_be_said_later() -> None:
    """0 is a rate: nobody who hears it from another may rely on the fact."""
    changed: Raw = ("fact_modified", "a", {"id": "F1", "decay_rate": 0})
    found = ledger(added("F1", 0.9, decay_rate=0.5), changed, read("b", "F1"))
    assert found.fact("F1").confidence("b") == 0


def test_consensus_in_a_ledger() -> None:
    """The author's word counts; a reliability is the event's, or the profile's; a consensus begins anew."""
    found = ledger(
        ("step_start", "b", {"agent_profile": {"type": "reviewer", "reliability_score": 0.5}}),
        added("F1", 0.8),
        ("assessment", "b", {"id": "F1", "confidence": 0.5}),
        ("assessment", "c", {"id": "F1", "confidence": 0.6, "reliability": 0.0}),
        ("assessment", "c", {"id": "F9", "confidence": 0.6}),
    )
    assert found.consensus("F1").score == pytest.approx((0.8 + 0.25) / 1.5)
    found.take(
        9, "fact_modified", "c", {"id": "F1", "confidence": 0.7, "consensus": {"assessors": ["a", "b"]}}
    )
    assert found.consensus("F1").assessors == ["c"]
    with pytest.raises(UsageError, match="did you mean 'F1'"):
        found.consensus("F11")


# -- properties ------------------------------------------------------------------------------------


@settings(max_examples=tries(50), deadline=None)
@given(UNIT, UNIT, st.integers(0, 40), st.integers(0, 40))
def test_decay_is_monotone(confidence: float, rate: float, hops: int, more: int) -> None:
    """More hops never raise a confidence, and none leaves 0 to 1."""
    near, far = decayed(confidence, hops, rate), decayed(confidence, hops + more, rate)
    assert near is not None and far is not None
    assert 0 <= far <= near <= confidence


ASSESSMENTS = st.lists(
    st.builds(Assessment, st.sampled_from("abcdef"), UNIT, UNIT),
    min_size=1,
    max_size=6,
    unique_by=lambda one: one.agent,
)


@settings(max_examples=tries(50), deadline=None)
@given(ASSESSMENTS, UNIT)
def test_a_consensus_lies_within_its_assessments(given_: list[Assessment], tolerance: float) -> None:
    """And its levels within 0 to 1."""
    found = consensus(given_, min(tolerance, 0.99))
    held = [one.confidence for one in given_]
    assert min(held) <= found.score <= max(held)
    assert 0 <= found.agreement <= 1 and 0 <= found.conflict_level <= 1


@settings(max_examples=tries(50), deadline=None)
@given(ASSESSMENTS, st.randoms(use_true_random=False))
def test_order_does_not_matter(given_: list[Assessment], random: st.DataObject) -> None:
    """A permutation of the assessments changes nothing, to the last bit."""
    mixed = list(given_)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert consensus(mixed) == consensus(given_)


AGENTS = st.sampled_from(["a", "b", "c", ""])
FACTS = st.sampled_from(["F1", "F2", "F3"])
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("fact_added"), AGENTS, st.fixed_dictionaries({"id": FACTS, "confidence": UNIT})),
        st.tuples(st.just("fact_modified"), AGENTS, st.fixed_dictionaries({"id": FACTS, "confidence": UNIT})),
        st.tuples(
            st.just("fact_read"), AGENTS, st.fixed_dictionaries({"facts": st.lists(FACTS, max_size=3)})
        ),
        st.tuples(
            st.just("handoff"),
            AGENTS,
            st.fixed_dictionaries({"to": AGENTS, "facts": st.lists(FACTS, max_size=3)}),
        ),
        st.tuples(st.just("assessment"), AGENTS, st.fixed_dictionaries({"id": FACTS, "confidence": UNIT})),
        st.tuples(
            st.just("gate"),
            AGENTS,
            st.fixed_dictionaries({"id": FACTS, "decision": st.sampled_from(DECISIONS)}),
        ),
        st.tuples(
            st.just("fact_added"),
            AGENTS,
            st.dictionaries(
                st.sampled_from(["id", "facts", "confidence"]),
                st.none() | st.integers() | st.text(max_size=2),
            ),
        ),
    ),
    max_size=25,
)


def said(found: Ledger) -> list[object]:
    """Everything a ledger says to everybody."""
    return [
        (id, agent, gate_data(found, id, agent), found.facts[id].history, found.facts[id].blocked)
        for id in found.facts
        for agent in ("a", "b", "c", "new")
    ]


@settings(max_examples=tries(30), deadline=None)
@given(EVENTS, st.integers(0, 25))
def test_gates_depend_on_earlier_events_only(raw: list[tuple[str, str, dict[str, object]]], cut: int) -> None:
    """What is said at seq n is the same whether or not there are later events, and however it is read."""
    log = events(*raw)
    at_once = Ledger().take_all(event for event in log if event.seq <= cut)
    step_by_step = Ledger()
    seen: list[object] = said(step_by_step)
    for event in log:
        if event.seq <= cut:
            step_by_step.take(event.seq, event.type, event.agent, event.data)
            seen = said(step_by_step)
        else:  # later events must not reach back into what was said
            step_by_step.take(event.seq, event.type, event.agent, event.data)
    assert said(at_once) == seen


@settings(max_examples=tries(50), deadline=None)
@given(EVENTS)
def test_crossings_never_raise_a_confidence(raw: list[tuple[str, str, dict[str, object]]]) -> None:
    """Whatever happens, only a statement does."""
    found = Ledger()
    for event in events(*raw):
        before = {id: fact.confidence() for id, fact in found.facts.items()}
        found.take(event.seq, event.type, event.agent, event.data)
        if event.type not in ("fact_added", "fact_modified"):
            for id, was in before.items():
                now = found.facts[id].confidence()
                assert was is None or (now is not None and now <= was)


@settings(max_examples=tries(50), deadline=None)
@given(UNIT, UNIT, UNIT)
def test_decisions_follow_confidence(one: float, other: float, spread: float) -> None:
    """The higher confidence is never treated worse."""
    bounds = Thresholds(0.8, 0.6, 0.4 * spread)
    low, high = sorted((one, other))
    assert DECISIONS.index(bounds.decide(high)) <= DECISIONS.index(bounds.decide(low))


def test_events_of_the_wrong_shape_are_passed_over() -> None:
    """Nothing in a log makes a ledger raise."""
    found = Ledger()
    for data in ({}, {"id": None}, {"id": 7, "confidence": "x"}, {"id": "F", "tags": 3, "text": ["x"]}):
        for type in (
            "fact_added",
            "fact_modified",
            "fact_read",
            "handoff",
            "assessment",
            "gate",
            "step_start",
        ):
            found.take_all([Event(seq=1, type=type, agent="a", data=dict(data))])
    assert [fact.confidence() for fact in found.facts.values()] == [None, None]
