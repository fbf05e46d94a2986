"""What an index keeps of a state beside its mappings, a few hundred bytes a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from lctl.state.builder import Builder
from lctl.state.model import Totals
from lctl.state.moments import elapsed_ms
from lctl.state.rows import UsageFields, UsageRow
from lctl.state.sums import KeptSums


class Mark(NamedTuple):
    """A state after a block. Counts say how far the growing lists went."""

    seq: int
    events: int
    steps: int
    llm_calls: int
    messages: int
    tokens: UsageFields
    first_timestamp: str | None
    last_timestamp: str | None
    last_agent: str | None
    structural: bool
    interrupted: int | None
    tool_calls: int
    errors: int
    checkpoints: int
    handoffs: int
    diagnostics: int
    counts: list[int]  # keys of each mapping but the sums
    sums: list[KeptSums]  # of agents, models, tools

    def totals(self) -> Totals:
        """The sums of all that happened."""
        return Totals(
            events=self.events,
            steps=self.steps,
            llm_calls=self.llm_calls,
            tool_calls=self.tool_calls,
            errors=self.errors,
            messages=self.messages,
            tokens=UsageRow(*self.tokens).tokens(),
            duration_ms=elapsed_ms(self.first_timestamp, self.last_timestamp) or 0.0,
        )


_encode = msgspec.msgpack.Encoder().encode

#: The mark of some bytes.
read_mark = msgspec.msgpack.Decoder(Mark).decode


def mark_of(builder: Builder, counts: Sequence[int], sums: Sequence[KeptSums]) -> bytes:
    """A `Mark` packed, of a builder whose lists are those of the whole log."""
    return _encode(
        (
            builder.seq,
            builder.events,
            builder.step_count,
            builder.llm_calls,
            builder.message_count,
            builder.tokens.fields(),
            builder.first_timestamp,
            builder.last_timestamp,
            builder.last_agent,
            builder.structural,
            builder.interrupted,
            len(builder.tool_calls),
            len(builder.errors),
            len(builder.checkpoints),
            len(builder.handoffs),
            len(builder.diagnostics),
            counts,
            sums,
        )
    )
