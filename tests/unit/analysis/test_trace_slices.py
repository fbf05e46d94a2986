"""Slices of a trace by Perfetto's rules: in one lane they nest or follow, to the nanosecond.

Perfetto drops a slice that begins in another one and ends after it; times are numbers it multiplies by 1,000
and cuts off.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lctl.analysis import exports
from tests.unit.analysis.chains import log_of


def dropped(trace: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The slices that Perfetto would drop, each with the one it crosses."""
    lanes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            lanes[event["tid"]].append(event)
    crossing = []
    for slices in lanes.values():
        open_: list[tuple[int, Any]] = []
        for one in sorted(slices, key=lambda one: (one["ts"], -one["dur"])):
            start, length = int(one["ts"] * 1000), int(one["dur"] * 1000)
            while open_ and open_[-1][0] <= start:
                open_.pop()
            if open_ and start + length > open_[-1][0]:
                crossing.append((one, open_[-1][1]))
            open_.append((start + length, one))
    return crossing


def event(seq: int, type: str, at: int, step: int | None = None, **data: Any) -> dict[str, Any]:
    time = f"2026-01-01T00:00:{10 + at // 1_000_000:02}.{at % 1_000_000:06}Z"
    made = {"seq": seq, "type": type, "timestamp": time, "agent": "a", "data": data}
    return made if step is None else {**made, "step": step}


def test_tools_that_ran_at_once() -> None:
    """Each is to be seen, in the agent's lane or one beside it."""
    trace = exports.chrome(
        log_of(
            [
                event(1, "step_start", 0, kind="agent", intent="work"),
                event(2, "tool_call", 300_000, 1, tool="first", duration_ms=200.0),
                event(3, "tool_call", 400_000, 1, tool="second", duration_ms=250.0),
                event(4, "step_end", 500_000, 1, outcome="success", duration_ms=500.0),
            ]
        )
    )
    assert dropped(trace) == []
    slices = {one["name"]: one for one in trace["traceEvents"] if one["ph"] == "X"}
    assert (slices["first"]["ts"], slices["first"]["dur"]) == (100_000, 200_000)
    assert (slices["second"]["ts"], slices["second"]["dur"]) == (150_000, 250_000)
    names = {one["args"]["name"] for one in trace["traceEvents"] if one["name"] == "thread_name"}
    assert names == {"a", "a (2)"}


def test_a_tool_that_began_before_its_step() -> None:
    """As those do that are told by the next request: they began when the answer came that asked for them."""
    trace = exports.chrome(
        log_of(
            [
                event(1, "step_start", 500_000, kind="agent", intent="work"),
                event(2, "tool_call", 600_000, 1, tool="t", duration_ms=400.0),
                event(3, "step_end", 900_000, 1, outcome="success", duration_ms=400.0),
            ]
        )
    )
    assert dropped(trace) == []
    assert sum(one["ph"] == "X" for one in trace["traceEvents"]) == 2


def test_a_tool_between_two_calls_is_in_their_lane() -> None:
    """It began as the answer came, which two readings of the clock put some microseconds apart."""
    trace = exports.chrome(
        log_of(
            [
                event(1, "step_start", 0, kind="llm", model="m"),
                event(2, "step_end", 100_000, 1, outcome="success", duration_ms=100.0),
                event(3, "tool_call", 200_000, tool="t", duration_ms=100.2),
                event(4, "step_start", 200_000, kind="llm", model="m"),
                event(5, "step_end", 300_000, 4, outcome="success", duration_ms=100.0),
            ]
        )
    )
    assert dropped(trace) == []
    assert len({one["tid"] for one in trace["traceEvents"] if one["ph"] == "X"}) == 1


@given(
    st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 3000), st.booleans()), min_size=1, max_size=12)
)
def test_whatever_ran_at_once_nothing_is_dropped(spans: list[tuple[int, int, bool]]) -> None:
    """Steps and tools of one agent, anyhow beside each other, lengths to the microsecond."""
    moments: list[tuple[int, int, dict[str, Any]]] = []
    for number, (start, length, is_tool) in enumerate(spans):
        start, end = start * 137, start * 137 + length * 101
        took = {"duration_ms": (end - start) / 1000}
        if is_tool:
            moments.append((end, number, {"type": "tool_call", "tool": f"t{number}", **took}))
        else:
            moments.append((start, number, {"type": "step_start", "kind": "task"}))
            moments.append((end, number, {"type": "step_end", "outcome": "success", **took}))
    events, begun = [], {}
    for seq, (at, number, data) in enumerate(sorted(moments, key=lambda one: one[:2]), 1):
        type = data.pop("type")
        if type == "step_start":
            begun[number] = seq
        events.append(event(seq, type, at, begun.get(number) if type == "step_end" else None, **data))
    trace = exports.chrome(log_of(events))
    assert dropped(trace) == []
    assert sum(one["ph"] == "X" for one in trace["traceEvents"]) == len(spans)
