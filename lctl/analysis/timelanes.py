"""Lanes in which slices nest: what a trace viewer needs of what ran at once under one agent."""

from __future__ import annotations

from lctl.analysis.intervals import Interval
from lctl.analysis.survey import Survey

#: So much a child may end after its parent, or what follows begin before its end, for no other reason than
#: two readings of a clock.
_JITTER_MS = 1.0


def lanes(found: Survey) -> dict[int, tuple[str, Interval]]:
    """Step or tool call -> its lane and its interval in it. The lane is its agent's name, and `agent (2)` and
    so on where what the agent did overlaps without being nested."""
    spans = [(*span.interval, span.seq, span.agent) for span in found.steps.values()]
    for call in found.tools:
        step = None if call.step is None else found.steps.get(call.step)
        spans.append((*call.interval, call.seq, call.agent if step is None else step.agent))
    stacks: dict[str, list[list[Interval]]] = {}
    places: dict[int, tuple[str, Interval]] = {}
    for start, end, seq, agent in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
        mine = stacks.setdefault(agent, [])
        for n, stack in enumerate(mine):  # noqa: B007
            interval = _put(stack, start, end)
            if interval is not None:
                break
        else:
            n, interval = len(mine), (start, end)
            mine.append([interval])
        places[seq] = (agent if n == 0 else f"{agent} ({n + 1})", interval)
    return places


def _put(stack: list[Interval], start: float, end: float) -> Interval | None:
    """The interval as it nests in, or follows, those of a lane that are open at `start`; None if it does
    neither."""
    while stack and stack[-1][1] <= start:
        stack.pop()
    depth = len(stack)
    begun = start
    while depth and end > stack[depth - 1][1] + _JITTER_MS:
        if stack[depth - 1][1] > start + _JITTER_MS:
            return None
        begun = max(begun, stack[depth - 1][1])
        depth -= 1
    if depth:
        begun, end = max(begun, stack[depth - 1][0]), min(end, stack[depth - 1][1])
    interval = (begun, max(begun, end))
    stack[depth:] = [interval]
    return interval
