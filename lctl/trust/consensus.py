"""What several agents hold of one fact, as one number.

    found = consensus([Assessment("code-analyzer", 0.85), Assessment("security-reviewer", 0.92)])
    found.score, found.agreement, found.conflict_level        # 0.885, 1.0, 0.0

Pure, and the order of the assessments does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from math import fsum
from typing import Any

import msgspec

from lctl.errors import UsageError
from lctl.trust.numbers import rounded, unit

#: Assessments that differ by no more agree.
TOLERANCE = 0.1


class Assessment(msgspec.Struct, frozen=True, order=True):
    """What one agent holds of a fact; `reliability` (0 to 1) is its weight."""

    agent: str
    confidence: float
    reliability: float = 1.0


class Consensus(msgspec.Struct, frozen=True):
    """What assessments come to.

    Attributes:
        score: their mean, weighted by reliability; never outside them.
        agreement: part of the pairs of assessors (by weight) that differ by no more than the tolerance.
        conflict_level: how far pairs are apart beyond the tolerance, on average; 1 is 0 against 1.
    """

    assessments: tuple[Assessment, ...]
    score: float
    agreement: float
    conflict_level: float

    @property
    def assessors(self) -> list[str]:
        return [one.agent for one in self.assessments]

    @property
    def agreed(self) -> bool:
        """At least two, and none of them far from another."""
        return len(self.assessments) > 1 and self.conflict_level == 0

    def document(self) -> dict[str, Any]:
        """The protocol's `confidence:` block, numbers as it prints them."""
        return {
            "method": "consensus",
            "assessments": [{"agent": one.agent, "confidence": one.confidence} for one in self.assessments],
            "consensus_score": rounded(self.score),
            "conflict_level": rounded(self.conflict_level),
        }


def consensus(assessments: Iterable[Assessment | dict[str, Any]], tolerance: float = TOLERANCE) -> Consensus:
    """Assessments taken together; of an agent that gives several, the last one counts.

    Raises:
        UsageError: there is none, or one is not {agent, confidence, reliability}.
    """
    by_agent: dict[str, Assessment] = {}
    for one in assessments:
        made = read_assessment(one)
        by_agent[made.agent] = made
    if not by_agent:
        raise UsageError("a consensus needs at least one assessment")
    given = tuple(sorted(by_agent.values()))
    weights = [one.reliability for one in given]
    if not fsum(weights):  # nobody is relied on: all alike
        weights = [1.0] * len(given)
    held = [one.confidence for one in given]
    score = fsum(w * c for w, c in zip(weights, held, strict=True)) / fsum(weights)
    agreement, conflict = _levels(held, weights, tolerance)
    return Consensus(given, min(max(score, min(held)), max(held)), agreement, conflict)


def _levels(held: list[float], weights: list[float], tolerance: float) -> tuple[float, float]:
    """Agreement and conflict level over all pairs."""
    near: list[float] = []
    apart: list[float] = []
    total: list[float] = []
    for (a, x), (b, y) in combinations(zip(held, weights, strict=True), 2):
        weight = x * y
        distance = round(abs(a - b), 9)
        total.append(weight)
        if distance <= tolerance:
            near.append(weight)
        else:
            apart.append(weight * (distance - tolerance) / (1 - tolerance))
    whole = fsum(total)
    if not whole:
        return 1.0, 0.0
    return min(1.0, fsum(near) / whole), min(1.0, fsum(apart) / whole)


def read_assessment(given: Any) -> Assessment:
    """An assessment, or a mapping that is one.

    Raises:
        UsageError: it is not {agent, confidence, reliability}.
    """
    if isinstance(given, Assessment):
        given = msgspec.structs.asdict(given)
    if not isinstance(given, Mapping):
        raise UsageError(f"an assessment is {{agent, confidence, reliability}}, not {given!r:.80}")
    weight = given.get("reliability")
    confidence, reliability = unit(given.get("confidence")), 1.0 if weight is None else unit(weight)
    agent = given.get("agent")
    if not isinstance(agent, str) or confidence is None or reliability is None:
        raise UsageError(
            "an assessment is {agent, confidence, reliability}, both numbers from 0 to 1, not "
            f"{dict(given)!r:.200}"
        )
    return Assessment(agent, confidence, reliability)
