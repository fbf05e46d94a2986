"""Where a chain's time went: exclusive time by step, the critical path, and what to do about it."""

from __future__ import annotations

import msgspec

from lctl.analysis.advice import Advice, advise
from lctl.analysis.asked import COMMAND
from lctl.analysis.critical import Segment, critical_path
from lctl.analysis.flow import Flow
from lctl.analysis.log import Log
from lctl.analysis.prices import Prices
from lctl.analysis.spans import StepSpan, exclusive
from lctl.analysis.survey import Survey
from lctl.analysis.surveying import survey
from lctl.analysis.wording import percent, plain, quoted, seconds


class SlowStep(msgspec.Struct, frozen=True):
    """A step, or a command that the program ran (`kind` "command", `intent` its line), and its part of the
    chain's time.

    Attributes:
        wall_ms: from its start to its end.
        exclusive_ms: time that was its alone: none of its children ran, and shared with those that ran
            beside it. Adds up to the time in which any step ran.
        share: `exclusive_ms` of the chain's wall time, 0 to 1.
        critical_ms: its part of the critical path.
    """

    seq: int
    agent: str
    kind: str
    intent: str
    wall_ms: float
    exclusive_ms: float
    self_ms: float
    share: float
    critical_ms: float
    open: bool


class Bottleneck(msgspec.Struct, frozen=True):
    """What `lctl bottleneck` shows.

    Attributes:
        slowest: every step and command, most exclusive time first.
        path: the critical path in order of time.
        advice: what saves most first.
        recommendation: one sentence, or None when no step stands out.
    """

    chain_id: str
    wall_ms: float
    idle_ms: float
    slowest: tuple[SlowStep, ...]
    path: tuple[Segment, ...]
    advice: tuple[Advice, ...]
    recommendation: str | None


def bottleneck(log: Log, prices: Prices | None = None, found: Survey | None = None) -> Bottleneck:
    """Find what a chain waited for. `found`: a survey of the same log, where there is one."""
    prices = prices or Prices()
    found = survey(log) if found is None else found
    start, end = found.span
    wall = end - start
    path = critical_path(found)
    critical: dict[int | None, float] = {}
    for segment in path:
        critical[segment.step] = critical.get(segment.step, 0.0) + segment.duration_ms
    spans = found.timed
    slowest = sorted(
        (
            _slow(span, alone, wall, critical.get(span.seq, 0.0))
            for span, alone in zip(spans.values(), exclusive(spans), strict=True)
        ),
        key=lambda step: (-step.exclusive_ms, step.seq),
    )
    return Bottleneck(
        chain_id=found.chain_id,
        wall_ms=wall,
        idle_ms=max(0.0, wall - sum(step.exclusive_ms for step in slowest)),
        slowest=tuple(slowest),
        path=path,
        advice=advise(found, Flow(log, found), prices),
        recommendation=_recommendation(slowest, found),
    )


def lines(value: Bottleneck, limit: int = 10) -> list[str]:
    """The report as the protocol's own example prints it."""
    shown = [step for step in value.slowest if step.exclusive_ms > 0][:limit]
    if not shown:
        return ["No step took any time."]
    rows = [
        f"{n}. {_named(one)}: {seconds(one.exclusive_ms)} ({percent(one.share)})"
        for n, one in enumerate(shown, 1)
    ]
    report = ["Slowest steps:", *rows]
    if value.recommendation:
        report += ["", f"Recommendation: {value.recommendation}"]
    return report


def _named(one: SlowStep) -> str:
    if one.kind == COMMAND:
        return f"{plain(one.intent, 60)} (command {one.seq})"
    return f"{plain(one.agent, 40)} (step {one.seq})"


def _slow(span: StepSpan, alone: float, wall: float, critical: float) -> SlowStep:
    return SlowStep(
        seq=span.seq,
        agent=span.agent,
        kind=span.kind,
        intent=span.tool or span.intent,
        wall_ms=span.wall_ms,
        exclusive_ms=alone,
        self_ms=span.self_ms,
        share=alone / wall if wall > 0 else 0.0,
        critical_ms=critical,
        open=span.open,
    )


def _recommendation(slowest: list[SlowStep], found: Survey) -> str | None:
    """One step that takes twice its even share, and two fifths or more of what all take, stands out."""
    total = sum(step.exclusive_ms for step in slowest)
    if total <= 0:
        return None
    first = slowest[0]
    busy = sum(step.exclusive_ms > total * 0.01 for step in slowest)
    if first.exclusive_ms < total * 0.4 or busy < 2:
        return None
    name = plain(first.agent, 40)
    if first.kind == COMMAND:
        name = f"The command {quoted(first.intent, 60)} (event {first.seq})"
    elif first.kind in ("llm", "embedding", "tool") and first.intent:
        model = found.steps[first.seq].model
        name += f"'s {plain(model or first.intent, 40)} call (step {first.seq})"
    return f"{name} is bottleneck. Consider parallelization."
