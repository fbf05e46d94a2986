"""Lanes in which slices nest: what a trace viewer needs of steps that ran at once under one agent."""

from __future__ import annotations

from lctl.analysis.intervals import Interval
from lctl.analysis.survey import Survey

#: A child may end this much after its parent for no other reason than two readings of a clock.
_JITTER_MS = 1.0


def lanes(found: Survey) -> dict[int, tuple[str, Interval]]:
    """Step -> its lane and its interval in it. The lane is its agent's name, and `agent (2)` and so on where
    the agent's steps overlap without being nested."""
    stacks: dict[str, list[list[Interval]]] = {}
    places: dict[int, tuple[str, Interval]] = {}
    for span in sorted(found.steps.values(), key=lambda span: (span.start, -span.end, span.seq)):
        mine = stacks.setdefault(span.agent, [])
        interval = span.interval
        n = 0
        for n, stack in enumerate(mine):  # noqa: B007
            while stack and stack[-1][1] <= span.start:
                stack.pop()
            if not stack:
                break
            if span.end <= stack[-1][1] + _JITTER_MS:
                interval = (span.start, min(span.end, stack[-1][1]))
                break
        else:
            n = len(mine)
            mine.append([])
        mine[n].append(interval)
        places[span.seq] = (span.agent if n == 0 else f"{span.agent} ({n + 1})", interval)
    return places
