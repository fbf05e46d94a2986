"""How a comparison of two runs is said."""

from __future__ import annotations

import pytest

from lctl.analysis.diff import diff, lines
from tests.unit.analysis.chains import Script, diff_of


def test_the_protocols_example_prints_as_it_stands() -> None:
    """`Events diverged at seq 8` with both sides of the fact."""

    def run(confidence: float) -> Script:
        script = Script()
        for n in range(7):
            script.add(
                "checkpoint", "system", state_hash=str(n), facts_snapshot={}, events_hash=str(id(script))
            )
        script.add("fact_added", "code-analyzer", id="F3", text="t", confidence=confidence, source="s")
        return script

    assert lines(diff(run(0.7).log(), run(0.85).log())) == [
        "Events diverged at seq 8:",
        "  v1: fact_added F3 (confidence: 0.70)",
        "  v2: fact_added F3 (confidence: 0.85) [DIFFERENT]",
    ]


def test_what_a_line_does_not_show_is_named() -> None:
    """Two events that read the same in one line still say what differs."""
    left, right = Script(), Script()
    left.add("tool_call", tool="grep", input={"pattern": "a"})
    right.add("tool_call", tool="grep", input={"pattern": "b"})
    assert lines(diff(left.log(), right.log())) == [
        "Events diverged at seq 1:",
        "  v1: tool_call grep input.pattern: a",
        "  v2: tool_call grep input.pattern: b [DIFFERENT]",
    ]


@pytest.mark.parametrize(("events", "said"), [(1, "1 event."), (1200, "1,200 events.")])
def test_no_difference_is_said_in_words(events: int, said: str) -> None:
    """One event is not "1 events"; thousands are set apart as everywhere."""
    script = Script()
    for _ in range(events):
        script.add("fact_added", id="F1", text="t")
    assert lines(diff(script.log(), script.log())) == [f"No difference in {said}"]


def _refund(total: str) -> Script:
    """A loop whose program fails on a total that is no number."""
    script = Script()
    user = script.message("user", "refund all orders", None)
    asked = script.call(user, "look at order 14", "main")
    if total.isdigit():
        told = script.message("tool", f"refunded {total}", asked)
        script.call(told, "all done", "main")
    else:
        script.add("error", category="execution_error", type="ValueError", message=f"no number: {total}")
    return script


def test_where_a_run_failed_and_the_other_went_on_both_are_named() -> None:
    failed, well = _refund("14o").events, _refund("140").events
    at = len(failed)
    named = {
        "failed": "error execution_error/ValueError: no number: 14o",
        "well": 'message tool "refunded 140"',
    }
    assert lines(diff_of(failed, well)) == [
        f"Events diverged at seq {at}:",
        f"  v1: {named['failed']}",
        f"  v2: {named['well']} [DIFFERENT]",
    ]
    assert lines(diff_of(well, failed))[1:] == [
        f"  v1: {named['well']}",
        f"  v2: {named['failed']} [DIFFERENT]",
    ]


def test_what_only_one_run_did_is_told_to_be_nothing_in_the_other() -> None:
    script = _refund("140")
    more = script.events.copy()
    script.add("fact_added", id="F1", text="refunded", confidence=0.9)
    assert lines(diff_of(more, script.events))[1] == "  v1: (nothing)"


def test_other_agents_at_one_place_are_told_apart_by_name() -> None:
    runs = []
    for agent in ("writer", "critic"):
        script = Script()
        script.add("fact_added", agent, id=agent, text=agent, confidence=0.9)
        script.add("handoff", agent, **{"from": agent, "to": "editor"})
        runs.append(script.events)
    result = diff_of(*runs)
    left, right = lines(result)[1:]
    assert "writer" in left and "critic" in right
