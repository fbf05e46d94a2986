"""The critical path: the chain of steps, and of commands, that decided when the run ended.

Walking back from the end, at every moment the path is in the step that ended last before it; where no
child ran, in the step itself. Making anything off this path faster changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lctl.analysis.intervals import Interval
from lctl.analysis.spans import StepSpan
from lctl.analysis.survey import Survey


class Segment(msgspec.Struct, frozen=True):
    """A stretch of the path. `step` is None where no step ran. Times count from the chain's start."""

    step: int | None
    agent: str
    name: str
    start_ms: float
    end_ms: float

    @property
    def duration_ms(self) -> float:
        return self.end_ms - self.start_ms


def critical_path(found: Survey) -> tuple[Segment, ...]:
    """Segments in order of time; together they cover the chain from its first moment to its last."""
    start, end = found.span
    spans = found.timed
    children: dict[int | None, list[StepSpan]] = {}
    for span in spans.values():
        children.setdefault(span.parent, []).append(span)
    for siblings in children.values():
        siblings.sort(key=lambda span: span.end)
    walked: list[tuple[int | None, Interval]] = []
    _walk(children, start, end, walked)
    return tuple(_segment(spans, step, part, start) for step, part in _joined(walked))


def _walk(
    children: Mapping[int | None, list[StepSpan]],
    start: float,
    end: float,
    walked: list[tuple[int | None, Interval]],
) -> None:
    """Backwards, with the steps we are in on a stack: (step, its start, its children not yet passed)."""
    stack: list[tuple[int | None, float, list[StepSpan]]] = [(None, start, list(children.get(None, ())))]
    now = end
    while stack:
        step, began, waiting = stack[-1]
        child = _last_before(waiting, now, began)
        if child is None:
            if now > began:
                walked.append((step, (began, now)))
                now = began
            stack.pop()
            continue
        ended = min(child.end, now)
        if now > ended:
            walked.append((step, (ended, now)))
            now = ended
        stack.append((child.seq, max(child.start, began), list(children.get(child.seq, ()))))


def _last_before(waiting: list[StepSpan], now: float, began: float) -> StepSpan | None:
    """The child that ended last, counting one still running at `now` as ended then; later ones are passed."""
    while waiting:
        child = waiting.pop()
        if child.start < now and child.end > began and child.end > child.start:
            return child
    return None


def _joined(walked: list[tuple[int | None, Interval]]) -> list[tuple[int | None, Interval]]:
    joined: list[tuple[int | None, Interval]] = []
    for step, (start, end) in reversed(walked):
        if joined and joined[-1][0] == step and joined[-1][1][1] == start:
            joined[-1] = (step, (joined[-1][1][0], end))
        else:
            joined.append((step, (start, end)))
    return joined


def _segment(steps: Mapping[int, StepSpan], step: int | None, part: Interval, origin: float) -> Segment:
    span = steps[step] if step is not None else None
    return Segment(
        step=step,
        agent=span.agent if span else "",
        name=(span.tool or span.intent or span.kind) if span else "",
        start_ms=part[0] - origin,
        end_ms=part[1] - origin,
    )
