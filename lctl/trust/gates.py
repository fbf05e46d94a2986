"""What may be done with a fact, by its confidence: the protocol's automatic thresholds."""

from __future__ import annotations

from typing import Literal

import msgspec

Decision = Literal["proceed", "warn", "verify", "block"]

#: From what may be done freely to what may not be done at all.
DECISIONS: tuple[Decision, ...] = ("proceed", "warn", "verify", "block")


class Thresholds(msgspec.Struct, frozen=True):
    """The lowest confidence for each decision; below `verify` a fact is blocked."""

    proceed: float = 0.8
    warn: float = 0.6
    verify: float = 0.4

    def decide(self, confidence: float) -> Decision:
        # A product of decays may fall short of a bound by its last bit only.
        for name, lowest in (("proceed", self.proceed), ("warn", self.warn), ("verify", self.verify)):
            if confidence >= lowest - 1e-9:
                return name  # type: ignore[return-value]
        return "block"


THRESHOLDS = Thresholds()


def gate(confidence: float | None, thresholds: Thresholds = THRESHOLDS) -> Decision | None:
    """`proceed`, `warn`, `verify` or `block`; None where nothing is said of the confidence."""
    return None if confidence is None else thresholds.decide(confidence)


def allows(decision: Decision, at_least: Decision) -> bool:
    """Whether `decision` is as free as `at_least`, or freer."""
    return DECISIONS.index(decision) <= DECISIONS.index(at_least)
