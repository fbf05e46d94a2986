"""Where one fact stands: what was said of it, by whom, and how far it has come since."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Cause = Literal["added", "modified", "consensus", "read", "handoff", "assessed", "gate"]


class Point(msgspec.Struct, frozen=True):
    """One thing that happened to a fact.

    Attributes:
        agent: who stated it, or who received it.
        giver: of a crossing: from whom.
        confidence: the fact's, decayed, after it; of an assessment that one's.
        hops: of the agent that received it.
        decision: of a gate: what it said.
        reason: as the event gives it.
        front: the fact came further than it had been.
    """

    seq: int
    cause: Cause
    agent: str
    confidence: float | None
    hops: int = 0
    giver: str = ""
    decision: str = ""
    reason: str = ""
    front: bool = False


class Standing(msgspec.Struct, gc=False):
    """A fact as the ledger keeps it; it changes with every event taken.

    Attributes:
        agent: who added it.
        author: who stated the confidence it has.
        stated: that confidence, undecayed.
        rate: its decay for each hop.
        own_rate: the rate its own event gave it.
        holders: the agents it has come to since it was stated, with the hops it took to each.
        hops: the most of those.
        opinions: agent -> (confidence, reliability or None) of assessments since the last consensus.
        blocked: seq of the event since which it is blocked.
        verified: its confidence was confirmed by another agent, or by several.
        refuted: another agent put it below the threshold.
        changes: what happened after it was added.
        first: the confidence it was added with.
        extra: keys of its events beyond the protocol's.
    """

    id: str
    text: str
    source: str | None
    agent: str
    author: str
    stated: float | None
    rate: float
    added: int
    modified: int
    tags: tuple[str, ...] = ()
    own_rate: float | None = None
    holders: dict[str, int] | None = None
    hops: int = 0
    opinions: dict[str, tuple[float, float | None]] | None = None
    blocked: int | None = None
    verified: bool = False
    refuted: bool = False
    changes: list[Point] | None = None
    first: float | None = None
    extra: dict[str, Any] | None = None
    reason: str = ""

    def distance(self, agent: str | None) -> int:
        """Hops to an agent: none to its author, one to whoever would read it now; None: the furthest."""
        if agent is None:
            return self.hops
        if agent == self.author:
            return 0
        return self.holders.get(agent, 1) if self.holders else 1

    def confidence(self, agent: str | None = None) -> float | None:
        """As an agent may rely on it; without one, as the agent may whom it came furthest to."""
        return decayed(self.stated, self.distance(agent), self.rate)

    def holds(self, agent: str) -> bool:
        return agent == self.author or (self.holders is not None and agent in self.holders)

    @property
    def history(self) -> list[Point]:
        """All that happened, oldest first."""
        first = Point(self.added, "added", self.agent, self.first, reason=self.reason)
        return [first, *(self.changes or ())]


def decayed(confidence: float | None, hops: int, rate: float) -> float | None:
    """What is left of a confidence after some hops: 0.90 after 5 at 0.95 is 0.70."""
    if confidence is None or hops <= 0:
        return confidence
    return confidence * rate**hops
