"""Steps of a session: how they nest, and how they end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from lctl.session import LCTLSession, traced_step
from tests.unit.session.conftest import Brief, Events


def test_steps_nest(session: LCTLSession, brief: Brief) -> None:
    """A step_start names its parent, the events inside it name the step."""
    with session.step("a", "outer") as outer:
        session.add_fact("F1", "x")
        with traced_step(session, "b", "inner"):
            session.add_fact("F2", "y")
        session.add_fact("F3", "z")
        outer.update(output_summary="done")
    session.add_fact("F4", "w")
    assert brief(session) == [
        "1 step_start a",
        "2 fact_added a @1",
        "3 step_start b @1",
        "4 fact_added b @3",
        "5 step_end b @3",
        "6 fact_added a @1",
        "7 step_end a @1",
        "8 fact_added main",
    ]


def test_a_step_of_the_session_the_code_runs_in(session: LCTLSession, brief: Brief) -> None:
    with session, traced_step("planner", "plan"):
        session.add_fact("F1", "x")
    assert brief(session)[:2] == ["1 step_start planner", "2 fact_added planner @1"]


def test_a_step_outside_any_session_is_none() -> None:
    with traced_step("planner", "plan") as step:
        assert step is None


@dataclass
class Unusual(BaseException):
    """A failure, as AutoGen's tool agents have them."""

    content: str


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ValueError("no"), "error"),
        (Unusual("no"), "error"),
        (KeyboardInterrupt(), "aborted"),
        (SystemExit(1), "aborted"),
    ],
)
def test_an_exception_ends_the_steps_it_leaves(
    session: LCTLSession, events: Events, error: BaseException, outcome: str
) -> None:
    """Each with the right outcome; the exception itself is recorded once and passes unchanged."""
    with pytest.raises(type(error)) as raised, session.step("a"), session.step("b"):
        raise error
    assert raised.value is error
    recorded = events(session)
    assert [e["data"]["outcome"] for e in recorded if e["type"] == "step_end"] == [outcome, outcome]
    errors = [e for e in recorded if e["type"] == "error"]
    assert [e["step"] for e in errors] == ([2] if outcome == "error" else [])
    assert all("no" in e["data"]["message"] for e in errors)


def test_two_exceptions_are_two_errors(session: LCTLSession, events: Events) -> None:
    """A caught exception does not hide a later one of the step around it."""
    with pytest.raises(KeyError), session.step("a"):
        try:
            with session.step("b"):
                raise ValueError("first")
        except ValueError:
            pass
        raise KeyError("second")
    assert [e["data"]["type"] for e in events(session) if e["type"] == "error"] == ["ValueError", "KeyError"]


def test_step_end_finds_the_step_it_means(session: LCTLSession, brief: Brief) -> None:
    """By agent among the enclosing steps, by seq, or the running one."""
    first = session.step_start("a", "x")
    session.step_start("b", "y")
    session.step_start("c", "z")
    session.step_end("b")
    session.step_end()
    session.step_end(step=first)
    session.step_end("nobody", "success")
    assert brief(session)[3:] == [
        "4 step_end b @2",
        "5 step_end c @3",
        "6 step_end a @1",
        "7 step_end nobody",
    ]


def test_a_step_ended_by_hand_is_not_ended_twice(session: LCTLSession, brief: Brief) -> None:
    """`step_end` inside a `with` block wins."""
    with session.step("a"):
        session.step_end(outcome="partial")
    assert brief(session) == ["1 step_start a", "2 step_end a @1"]


def test_closing_ends_open_steps_as_aborted(session: LCTLSession) -> None:
    """Innermost first; the file says so."""
    session.step_start("a")
    session.step_start("b")
    session.close()
    document = json.loads(session.path.read_text())
    assert [(e["step"], e["data"]["outcome"]) for e in document["events"][2:]] == [
        (2, "aborted"),
        (1, "aborted"),
    ]


def test_a_session_left_by_an_exception_says_so(folder: Path) -> None:
    """Open steps end with the exception's outcome, and the exception passes."""
    with pytest.raises(ZeroDivisionError), LCTLSession("c", folder / "x.lctl.json") as session:
        session.step_start("a")
        raise ZeroDivisionError
    ends = [e for e in session.to_dict()["events"] if e["type"] == "step_end"]
    assert [e["data"]["outcome"] for e in ends] == ["error"]
