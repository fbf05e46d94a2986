"""`Advice`: one thing to do, and why."""

from __future__ import annotations

import msgspec

#: Least part of the chain's time a saving must be to be worth a line.
WORTH = 0.02


class Advice(msgspec.Struct, frozen=True):
    """One thing to do.

    Attributes:
        kind: "parallelize", "slow_tool", "retries", "cache_miss", "repeated_tool_call", "slow_first_chunk",
            "growing_context" or "dominant_step".
        text: the sentence to show.
        evidence: what was seen, a line each.
        seqs: the steps or tool calls it is about.
        saving_ms: time it would save at most; None where it saves none.
        saving_usd: money it would save; None where that cannot be told.
    """

    kind: str
    text: str
    evidence: tuple[str, ...]
    seqs: tuple[int, ...]
    saving_ms: float | None = None
    saving_usd: float | None = None
