"""What-if: the log changed and folded again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lctl
from lctl.analysis.whatif import WhatIf
from lctl.chain import Chain
from lctl.errors import UsageError
from lctl.state.reducer import fold
from tests.unit.analysis.chains import Script


def review() -> Script:
    """An analyst adds a fact, calls a model and hands over; a reviewer confirms the fact."""
    script = Script()
    step = script.start("analyst", intent="analyze")
    script.add("fact_added", "analyst", step, id="F1", text="SQL", confidence=0.85, source="grep")
    asked = script.message("user", "Look at this.", None, "analyst", step)
    call = script.start("analyst", step, kind="llm", model="gpt-4.1-mini", prompt=asked)
    said = script.message("assistant", "It is bad.", asked, "analyst", call, sampled=True)
    script.end(call, "analyst", model="gpt-4.1-mini", message=said, tokens={"input": 100, "output": 10})
    script.add("handoff", "analyst", step, to="reviewer", facts=["F1"])
    script.end(step, "analyst")
    second = script.start("reviewer", intent="assess")
    script.add("fact_modified", "reviewer", second, id="F1", confidence=0.95)
    script.end(second, "reviewer")
    return script


def asked(*args: Any, **kwargs: Any) -> WhatIf:
    return lctl.what_if(Chain.of(review().log()), *args, **kwargs)


def differences(found: WhatIf, seq: int | None = None) -> dict[tuple[str, str, str], tuple[Any, Any]]:
    changes = found.changes if seq is None else found.at(seq)
    return {(c.section, c.name, c.field): (c.before, c.after) for c in changes}


def test_an_edit_is_followed_to_its_end() -> None:
    """A lower confidence closes the gate at the hand-off; the later review overwrites it."""
    found = asked(2, set={"data.confidence": 0.3})
    assert [(s.fact, s.first, s.last, s.before, s.after, s.gates) for s in found.spans] == [
        ("F1", 2, 9, 0.85, 0.3, ("proceed", "block"))
    ]
    assert differences(found) == {
        ("handoffs", "7", "F1.confidence"): (0.85, 0.3),
        ("handoffs", "7", "F1.gate"): ("proceed", "block"),
    }
    assert differences(found, 4)["facts", "F1", "confidence"] == (0.85, 0.3)
    assert found.at(1) == ()


def test_totals_and_costs_follow() -> None:
    """Tokens of a call are the sums' business, too."""
    found = asked(6, set=["data.tokens.input=1100"])
    changed = differences(found)
    assert changed["totals", "", "tokens.input"] == (100, 1100)
    assert changed["models", "gpt-4.1-mini", "tokens.input"] == (100, 1100)
    before, after = changed["totals", "", "cost"]
    assert after > before > 0


def test_an_edited_message_changes_the_prompts_that_hold_it() -> None:
    """The step whose model read the message reads another prompt."""
    assert list(differences(asked(3, set=["data.content+=Quick!"]))) == [("steps", "4", "prompt")]


def test_dropping_a_step_closes_the_numbers_up() -> None:
    """The step's end goes with it, what was inside belongs to the step around, names of steps follow."""
    found = asked(drop=4)
    events = found.chain.events
    assert [event.seq for event in events] == list(range(1, 10))
    assert [(e.type, e.step) for e in events[3:6]] == [("message", 1), ("handoff", 1), ("step_end", 1)]
    assert events[-1].step == 7  # the second step, once 9
    assert not found.chain.log.problems
    changed = differences(found)
    assert changed["totals", "", "llm_calls"] == (1, 0)
    assert changed["steps", "4", ""][1] is None
    assert ("steps", "9", "") not in changed


def test_dropping_a_message_leaves_no_orphan() -> None:
    """Its children hang on its parent, and a prompt that ended with it ends there."""
    found = asked(drop=3)
    assert found.chain.events[3].data["parent_id"] is None
    assert not found.chain.state.parked


def test_inserting_an_event() -> None:
    """It stands behind the event named, takes over what it does not say, and all after it moves up."""
    found = asked(2, insert={"type": "fact_modified", "data": {"id": "F1", "confidence": 0.5}})
    inserted = found.chain.events[2]
    assert (inserted.seq, inserted.agent, inserted.step, inserted.type) == (3, "analyst", 1, "fact_modified")
    assert [event.seq for event in found.chain.events] == list(range(1, 13))
    assert found.chain.events[-1].step == 10
    assert differences(found)["handoffs", "7", "F1.gate"] == ("proceed", "verify")
    assert [(s.first, s.last, s.after) for s in found.spans] == [(2, 9, 0.5)]
    assert differences(found, 1) == {}


def test_scopes() -> None:
    """One edit for all events that have the field, of one agent or from a number on."""
    lower = asked(set=["all data.confidence-=0.5"])
    assert lower.after.facts["F1"].confidence == pytest.approx(0.45)
    mine = asked(set=["agent=analyst data.confidence=0.1"])
    assert [c for _, c, _ in mine.after.facts["F1"].history] == [0.1, 0.95]
    late = asked(set=["from 3 data.confidence=0.2"])
    assert [c for _, c, _ in late.after.facts["F1"].history] == [0.85, 0.2]
    assert asked(set=["@2 event.agent=other"]).after.facts["F1"].agent == "other"


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ({"at": 2, "set": ["data.confidnce=0.3"]}, "did you mean data.confidence"),
        ({"at": 99, "set": ["data.confidence=0.3"]}, "there is no event 99"),
        ({"set": ["data.confidence=0.3"]}, "which event"),
        ({"at": 2, "set": ["model=x"]}, "an event has data.NAME"),
        ({"at": 2, "set": ["del data.reason"]}, "there is no data.reason"),
        ({"set": ["agent=nobody data.confidence=0.3"]}, "no event there has"),
        ({"drop": 99}, "there is no event 99"),
        ({"insert": {"type": "error"}}, "needs a place"),
        ({"at": 1, "insert": {"data": {}}}, "needs a type"),
        ({"at": 2, "set": ["event.step=x"]}, "step cannot be 'x'"),
        ({}, "what if what?"),
    ],
)
def test_a_change_that_addresses_nothing_is_refused(question: dict[str, Any], why: str) -> None:
    """Never a comparison of a log with itself by a slip of the keyboard."""
    with pytest.raises(UsageError, match=why):
        asked(**question)


def test_pure() -> None:
    """The chain asked about stays as it is, and the same question has the same answer."""
    chain = Chain.of(review().log())
    before = chain.to_dict()
    first = lctl.what_if(chain, 2, set={"data.confidence": 0.3}, drop=[6])
    second = lctl.what_if(chain, 2, set={"data.confidence": 0.3}, drop=[6])
    assert chain.to_dict() == before
    assert first.changes == second.changes
    assert first.chain.to_dict() == second.chain.to_dict()


@given(st.sets(st.integers(1, 11)), st.lists(st.integers(0, 11), max_size=3), st.integers(1, 11))
def test_any_drops_and_insertions_give_a_whole_chain(drops: set[int], places: list[int], seq: int) -> None:
    """Numbers have no gap, and every step an event names began before it and is still there."""
    inserted: list[dict[str, Any]] = [
        {"type": "error", "after": at, "step": None, "data": {}} for at in places
    ]
    if not drops and not inserted:
        return
    found = asked(drop=drops, insert=inserted)
    assert [event.seq for event in found.chain.events] == list(range(1, len(found.chain.events) + 1))
    begun = set()
    for event in found.chain.events:
        assert event.step is None or event.step in begun
        if event.type == "step_start":
            begun.add(event.seq)
    codes = {one.code for one in fold(found.chain.events).diagnostics}
    assert not codes & {"seq_gap", "step_unknown", "step_ended_twice"}
    found.at(seq)
