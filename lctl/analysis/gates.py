"""What may be done with a fact, by its confidence: the protocol's automatic thresholds."""

from __future__ import annotations

#: (lowest confidence, what happens from there on), highest first.
GATES = ((0.8, "proceed"), (0.6, "warn"), (0.4, "verify"), (0.0, "block"))


def gate(confidence: float | None) -> str | None:
    """`proceed`, `warn`, `verify` or `block`; None where nothing is said of the confidence."""
    if confidence is None:
        return None
    return next((name for lowest, name in GATES if confidence >= lowest), "block")
