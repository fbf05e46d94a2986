"""The confidence of every fact of a log, at any seq: what `lctl confidence` shows."""

from __future__ import annotations

import msgspec

from lctl.analysis.log import Log
from lctl.facts.querying import ledger_of
from lctl.trust.gates import Thresholds
from lctl.trust.policy import Policy, policy_of
from lctl.trust.timeline import Way, ways


class Curve(msgspec.Struct, frozen=True):
    """A fact's confidence over the events: (seq, confidence) of each change, the last one held to the end."""

    fact: str
    points: tuple[tuple[int, float], ...]


class Confidence(msgspec.Struct, frozen=True):
    """Every fact's timeline.

    Attributes:
        first, last: seqs the log has, up to the one asked for.
    """

    chain_id: str
    policy: Policy
    ways: tuple[Way, ...]
    first: int
    last: int

    @property
    def thresholds(self) -> Thresholds:
        return self.policy.thresholds

    @property
    def blocked(self) -> list[Way]:
        return [way for way in self.ways if way.blocked is not None]

    @property
    def curves(self) -> list[Curve]:
        """What a plot draws: statements, and crossings that took the fact further."""
        return [Curve(way.id, points) for way in self.ways if (points := _curve(way))]


def confidence(log: Log, at: int | None = None) -> Confidence:
    """The timelines of a log's facts, as they were after event `at`."""
    ledger = ledger_of(log, at)
    first = next((event.seq for event in log.events()), 0)
    return Confidence(
        str(log.chain.get("id") or ""),
        policy_of(log.chain, getattr(log, "extra", None)),
        tuple(ways(ledger)),
        first,
        ledger.seq,
    )


def _curve(way: Way) -> tuple[tuple[int, float], ...]:
    return tuple(
        (point.seq, point.confidence)
        for point in way.points
        if point.confidence is not None
        and (
            point.cause in ("added", "modified", "consensus")
            or (point.cause in ("read", "handoff") and point.front)
        )
    )


def lines(found: Confidence) -> list[str]:
    """The timelines as the protocol's own example prints them."""
    if not found.ways:
        return ["There are no facts."]
    said = ["Fact confidence timeline:", *(way.line for way in found.ways)]
    if found.blocked:
        said.append("")
    return said + [
        f"Warning: {way.id} blocked at step {way.blocked} due to low confidence." for way in found.blocked
    ]
