"""What holds of any two runs that are compared: random ones, and how they come to differ."""

from __future__ import annotations

import random
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lctl.analysis.diff import Diff, diff
from lctl.analysis.differences import title
from tests.seeds import tries
from tests.unit.analysis.chains import Script, log_of, renumbered


def _diff(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> Diff:
    return diff(log_of(left), log_of(right))


def _random_run(chance: random.Random, agents: int = 3, length: int = 6) -> list[list[dict[str, Any]]]:
    """Lanes of events, one for each of several agents at work at once. Seqs are keys to be renumbered."""
    lanes = []
    for n in range(agents):
        script = Script()
        agent = f"agent{n}"
        step = script.start(agent, kind="agent", intent="work", input_summary=str(chance.randrange(2)))
        parent: str | None = None
        for _ in range(chance.randrange(1, length)):
            match chance.randrange(4):
                case 0:
                    parent = script.message("user", f"say {chance.randrange(3)}", parent, agent, step)
                    parent = script.call(
                        parent, f"{chance.randrange(3)}", agent, step, salt=str(chance.random())
                    )
                case 1:
                    script.add(
                        "tool_call", agent, step, tool="t", input={"x": chance.randrange(3)}, duration_ms=0
                    )
                case 2:
                    script.add("fact_added", agent, step, id=f"F{chance.randrange(3)}", confidence=0.5)
                case _:
                    inner = script.start(agent, step, kind="tool", tool="u")
                    script.add(
                        "error", agent, inner, category="c", type=str(chance.randrange(2)), message="m"
                    )
                    script.end(inner, agent)
        if chance.random() < 0.9:
            script.end(step, agent)
        lanes.append(_shifted(script.events, n * 1000))
    return lanes


def _shifted(events: list[dict[str, Any]], by: int) -> list[dict[str, Any]]:
    result = []
    for event in events:
        data = dict(event["data"])
        for key in ("message_id", "parent_id", "prompt", "message"):
            named = re.fullmatch(r"m(\d+)", str(data.get(key)))
            if named:
                data[key] = f"m{int(named[1]) + by}"
        event = {**event, "seq": event["seq"] + by, "data": data}
        if "step" in event:
            event["step"] += by
        result.append(event)
    return result


def _interleaved(chance: random.Random, lanes: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    waiting = [list(reversed(lane)) for lane in lanes]
    events = []
    while any(waiting):
        lane = chance.choice([lane for lane in waiting if lane])
        events.append(lane.pop())
    return renumbered(events)


@settings(max_examples=tries(100), deadline=None)
@given(st.integers(0, 2**32))
def test_a_run_does_not_differ_from_itself(seed: int) -> None:
    """Also with every seq, id and time another."""
    chance = random.Random(seed)
    events = _interleaved(chance, _random_run(chance))
    later = [{**event, "timestamp": "2027-01-01T00:00:00Z"} for event in _shifted(events, 500)]
    assert list(_diff(events, later).differences) == []


@settings(max_examples=tries(100), deadline=None)
@given(st.integers(0, 2**32))
def test_the_interleaving_of_concurrent_siblings_makes_no_difference(seed: int) -> None:
    """However the same lanes came to be mixed."""
    chance = random.Random(seed)
    lanes = _random_run(chance)
    left, right = _interleaved(chance, lanes), _interleaved(chance, lanes)
    result = _diff(left, right)
    assert [title(one) for one in result.differences] == []
    assert result.equal == len(left)


@settings(max_examples=tries(100), deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_one_event_more_or_less_is_one_difference(seed: int, insert: bool) -> None:
    """Everything behind it is renumbered, which is no difference."""
    chance = random.Random(seed)
    events = _interleaved(chance, _random_run(chance))
    at = chance.randrange(1, len(events))
    fresh = {
        **events[at],
        "seq": 10_000,
        "type": chance.choice(["fact_added", "tool_call", "odd", "handoff"]),
    }
    fresh["data"] = {"id": "new", "tool": "new", "text": "new"}
    longer = renumbered([*events[:at], fresh, *events[at:]])
    left, right, kind = (events, longer, "added") if insert else (longer, events, "removed")
    result = _diff(left, right)
    assert [one.kind for one in result.differences] == [kind]
    assert result.equal == len(events)


@settings(max_examples=tries(100), deadline=None)
@given(st.integers(0, 2**32))
def test_one_event_that_says_something_else_is_one_difference(seed: int) -> None:
    """The event is found, with the field."""
    chance = random.Random(seed)
    events = _interleaved(chance, _random_run(chance))
    at = chance.randrange(len(events))
    changed = {**events[at], "data": {**events[at]["data"], "remark": "other"}}
    if events[at]["type"] == "exchange":
        changed["data"]["status"] = 500
    result = _diff(events, [*events[:at], changed, *events[at + 1 :]])
    [difference] = result.differences
    assert difference.kind == "changed"
    assert difference.left is not None and difference.left.type == events[at]["type"]
    assert [change.path for change in difference.fields] in (["remark"], ["status"])


@settings(max_examples=tries(100), deadline=None)
@given(st.integers(0, 2**32))
def test_a_change_is_found_through_another_interleaving(seed: int) -> None:
    """Luck and change at once: only the change is told."""
    chance = random.Random(seed)
    lanes = _random_run(chance)
    left = _interleaved(chance, lanes)
    lane = chance.choice(lanes)
    at = chance.randrange(len(lane))
    lane[at] = {**lane[at], "data": {**lane[at]["data"], "remark": "other", "status": 500}}
    [difference] = _diff(left, _interleaved(chance, lanes)).differences
    assert difference.left is not None and difference.left.type == lane[at]["type"]


@settings(max_examples=tries(50), deadline=None)
@given(st.integers(0, 2**32))
def test_differences_are_the_same_looked_at_in_any_order(seed: int) -> None:
    """They are worked out when asked for, one by one or all in a row; and they account for every event."""
    chance = random.Random(seed)
    left, right = (_interleaved(chance, _random_run(chance)) for _ in range(2))
    result = _diff(left, right)
    found = list(result.differences)
    assert [result.differences[n] for n in range(len(found))] == found
    assert result.differences[:2] == found[:2]
    only_left = sum(one.events for one in found if one.kind == "removed")
    changed = sum(one.kind == "changed" for one in found)
    assert result.equal + changed + only_left == len(left)
