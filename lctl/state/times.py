"""Wall time and exclusive time, from the intervals of a state's steps.

An interval is from a step's start to its end; `duration_ms`, where its step_end said one, is taken as the
length, because clocks of imported logs are coarse. An open step is as long as the log so far. Each moment
counts once, however steps nest or run side by side. Milliseconds throughout.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lctl.state.model import State, Step
from lctl.state.moments import moment

Interval = tuple[float, float]


class AgentTime(NamedTuple):
    """Time of one agent: with a step open, and at work itself while none of its steps waited on another."""

    wall_ms: float
    exclusive_ms: float


def busy(state: State) -> float:
    """Time in which at least one step was open."""
    return length(intervals(state).values())


def exclusive(state: State) -> dict[int, float]:
    """Of each step, the time in which none of its child steps was open. Steps whose times cannot be read
    are left out."""
    spans = intervals(state)
    result: dict[int, float] = {}
    for seq, (start, end) in spans.items():
        children = (spans[child] for child in state.steps[seq].children if child in spans)
        inside = [(max(a, start), min(b, end)) for a, b in children if a < end and b > start]
        result[seq] = (end - start) - length(inside)
    return result


def by_agent(state: State) -> dict[str, AgentTime]:
    """Of each agent with steps. Exclusive: at least one of its steps had no child step open."""
    spans = intervals(state)
    mine: dict[str, list[Interval]] = {}
    own: dict[str, list[Interval]] = {}
    for seq, span in spans.items():
        step = state.steps[seq]
        mine.setdefault(step.agent, []).append(span)
        children = [spans[child] for child in step.children if child in spans]
        own.setdefault(step.agent, []).extend(_less(span, children))
    return {agent: AgentTime(length(all), length(own[agent])) for agent, all in mine.items()}


def intervals(state: State) -> dict[int, Interval]:
    """(start, end) of each step whose start can be read, in milliseconds since the epoch."""
    now = millis(state.last_timestamp)
    found: dict[int, Interval] = {}
    for seq, step in state.steps.items():
        start = millis(step.start)
        if start is not None:
            found[seq] = (start, max(start, _end(step, start, now)))
    return found


def _end(step: Step, start: float, now: float | None) -> float:
    if step.end_seq is None:
        return start if now is None else now
    if step.duration_ms is not None:
        return start + step.duration_ms
    return millis(step.end) or start


def union(spans: Iterable[Interval]) -> list[Interval]:
    """The same moments as disjoint intervals, in order."""
    merged: list[Interval] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def length(spans: Iterable[Interval]) -> float:
    """Time covered, each moment once."""
    return sum(end - start for start, end in union(spans))


def _less(span: Interval, taken: list[Interval]) -> list[Interval]:
    """The parts of an interval in none of the others."""
    at, end = span
    left: list[Interval] = []
    for a, b in union(taken):
        if a > at:
            left.append((at, min(a, end)))
        at = max(at, b)
        if at >= end:
            break
    if at < end:
        left.append((at, end))
    return [(a, b) for a, b in left if b > a]


def millis(timestamp: object) -> float | None:
    """Milliseconds since the epoch; UTC where the timestamp names no zone; None if it cannot be read."""
    at = moment(timestamp)
    if at is None:
        return None
    try:
        return at.timestamp() * 1000.0
    except (OverflowError, ValueError):
        return None
