"""A fact's way as the protocol prints it: `0.90 → 0.86 → 0.81 (decayed)`."""

from __future__ import annotations

import msgspec

from lctl.trust.gates import Thresholds
from lctl.trust.ledger import Ledger
from lctl.trust.numbers import shown
from lctl.trust.standing import Point, Standing

BLOCKED = "BLOCKED"


class Way(msgspec.Struct, frozen=True):
    """One fact's timeline.

    Attributes:
        marks: its confidences in order, `BLOCKED` where it fell below the threshold.
        label: verified, decayed, refuted, "below threshold", or "".
        blocked: seq since which it is blocked; None when it is not.
        points: everything that happened to it.
    """

    id: str
    marks: tuple[str, ...]
    label: str
    blocked: int | None
    confidence: float | None
    points: tuple[Point, ...]

    @property
    def line(self) -> str:
        label = f" ({self.label})" if self.label else ""
        return f"{self.id}: {' → '.join(self.marks)}{label}"


def ways(ledger: Ledger) -> list[Way]:
    """The timelines of all facts, in the order they were added."""
    return [way_of(fact, ledger.policy.thresholds) for fact in ledger.facts.values()]


def way_of(fact: Standing, thresholds: Thresholds) -> Way:
    """One fact's timeline. A crossing to an agent nearer than another that has the fact shows nothing new."""
    points = fact.history
    marks = [shown(fact.first)]
    for point in points[1:]:
        if point.cause == "assessed" or (point.cause in ("read", "handoff") and not point.front):
            continue
        low = point.confidence is not None and thresholds.decide(point.confidence) == "block"
        if point.cause == "gate":
            if point.decision == "block" and marks[-1] != BLOCKED:
                marks.append(BLOCKED)
        elif not (low and marks[-1] == BLOCKED):
            marks.append(BLOCKED if low else shown(point.confidence))
    if fact.blocked is not None and marks[-1] != BLOCKED:
        marks.append(BLOCKED)
    return Way(fact.id, tuple(marks), label_of(fact), fact.blocked, fact.confidence(), tuple(points))


def label_of(fact: Standing) -> str:
    if fact.blocked is not None:
        return "below threshold"
    if fact.hops and fact.rate < 1:
        return "verified, decayed" if fact.verified else "decayed"
    return "verified" if fact.verified else ""


def cause_of(point: Point) -> str:
    """Why a confidence became what it is, in words: `handed over by planner, 1 hop`."""
    hops = f", {point.hops} hop{'' if point.hops == 1 else 's'}" if point.hops else ""
    reason = f" ({point.reason})" if point.reason else ""
    if point.cause == "handoff":
        return f"handed over by {point.giver}{hops}"
    if point.cause == "read":
        return f"read, stated by {point.giver}{hops}"
    if point.cause == "gate":
        return f"gate: {point.decision}{hops}"
    words = {"added": "added", "modified": "modified", "consensus": "consensus", "assessed": "assessed"}
    return words[point.cause] + reason
