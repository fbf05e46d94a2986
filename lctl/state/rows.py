"""Steps, sums and facts while they change: the mutable twins of the values in `model.py`.

They live inside one `Builder` and never leave it.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add

import msgspec

from lctl.state.model import Fact, Rare, Step, Tokens, Usage

#: (seq, confidence, reason) of a fact's history
Entry = tuple[int, float | None, str | None]


#: What `UsageRow.fields` gives.
UsageFields = tuple[int, int, float, int, str | None, int, int, int, int, int, Rare | None]


class UsageRow:
    """Sums of one name. A plain class: every event adds to some, and of a struct setting an attribute is
    ten times as dear."""

    __slots__ = (
        *("calls", "errors", "wall_ms", "running", "since"),
        *("input", "output", "cache_read", "cache_write", "reasoning", "rare"),
    )

    def __init__(
        self,
        calls: int = 0,
        errors: int = 0,
        wall_ms: float = 0.0,
        running: int = 0,
        since: str | None = None,
        input: int = 0,
        output: int = 0,
        cache_read: int = 0,
        cache_write: int = 0,
        reasoning: int = 0,
        rare: Rare | None = None,
    ) -> None:
        self.calls = calls
        self.errors = errors
        self.wall_ms = wall_ms
        self.running = running
        self.since = since
        self.input = input
        self.output = output
        self.cache_read = cache_read
        self.cache_write = cache_write
        self.reasoning = reasoning
        self.rare = rare

    @classmethod
    def of(cls, usage: Usage | None) -> UsageRow:
        if usage is None:
            return cls()
        tokens = usage.tokens
        return cls(
            usage.calls,
            usage.errors,
            usage.wall_ms,
            usage.running,
            usage.since,
            tokens.input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_write,
            tokens.reasoning,
            tokens.rare,
        )

    def fields(self) -> UsageFields:
        """All of it, to be packed: `UsageRow(*fields)` is the row again."""
        return (
            self.calls,
            self.errors,
            self.wall_ms,
            self.running,
            self.since,
            self.input,
            self.output,
            self.cache_read,
            self.cache_write,
            self.reasoning,
            self.rare,
        )

    def add_parts(self, tokens: Tokens | StepRow) -> None:
        """What most calls have none of."""
        self.cache_read += tokens.cache_read
        self.cache_write += tokens.cache_write
        self.reasoning += tokens.reasoning
        if tokens.rare is not None:
            self.rare = _sum(self.rare, tokens.rare)

    def add(self, tokens: Tokens) -> None:
        self.input += tokens.input
        self.output += tokens.output
        self.add_parts(tokens)

    def take_out(self, tokens: Tokens) -> None:
        self.input -= tokens.input
        self.output -= tokens.output
        self.cache_read -= tokens.cache_read
        self.cache_write -= tokens.cache_write
        self.reasoning -= tokens.reasoning
        if tokens.rare is not None:
            a, b, c, d, e, f = tokens.rare
            self.rare = _sum(self.rare, (-a, -b, -c, -d, -e, -f))

    def tokens(self) -> Tokens:
        return _tokens(self)

    def frozen(self) -> Usage:
        return Usage(self.calls, self.errors, self.wall_ms, self.tokens(), self.running, self.since)


class StepRow(msgspec.Struct, gc=False, array_like=True):
    """One step, without its children. Tokens lie flat, so that a row is packed in one go."""

    seq: int
    agent: str
    kind: str
    intent: str
    parent: int | None
    start: str
    model: str | None
    tool: str | None
    end: str | None = None
    end_seq: int | None = None
    outcome: str | None = None
    duration_ms: float | None = None
    reported: bool = False  # it has tokens
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    rare: Rare | None = None
    errors: int = 0
    tool_calls: int = 0
    counted: bool = False
    covered: bool = False
    streamed: bool = False

    @classmethod
    def of(cls, step: Step) -> StepRow:
        tokens = step.tokens or _NONE
        return cls(
            step.seq,
            step.agent,
            step.kind,
            step.intent,
            step.parent,
            step.start,
            step.model,
            step.tool,
            step.end,
            step.end_seq,
            step.outcome,
            step.duration_ms,
            step.tokens is not None and not step.streamed,
            tokens.input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_write,
            tokens.reasoning,
            tokens.rare,
            step.errors,
            step.tool_calls,
            step.counted,
            step.covered,
            step.streamed,
        )

    def tokens(self) -> Tokens:
        return _tokens(self)

    def add_tokens(self, tokens: Tokens) -> None:
        self.input += tokens.input
        self.output += tokens.output
        self.cache_read += tokens.cache_read
        self.cache_write += tokens.cache_write
        self.reasoning += tokens.reasoning
        if tokens.rare is not None:
            self.rare = _sum(self.rare, tokens.rare)

    def frozen(self, children: Sequence[int]) -> Step:
        return Step(
            self.seq,
            self.agent,
            self.kind,
            self.intent,
            self.parent,
            self.start,
            self.end,
            self.end_seq,
            self.outcome,
            self.duration_ms,
            self.tokens() if self.reported or self.streamed else None,
            self.model,
            self.tool,
            children,
            self.errors,
            self.tool_calls,
            self.counted,
            self.covered,
            self.streamed,
        )


_NONE = Tokens()


def _tokens(row: UsageRow | StepRow) -> Tokens:
    counts = (row.input, row.output, row.cache_read, row.cache_write, row.reasoning)
    return Tokens(*counts) if row.rare is None else Tokens(*counts, *row.rare)


def _sum(rare: Rare | None, more: Rare) -> Rare | None:
    """None where nothing is left of it, as of what never had any."""
    a, b, c, d, e, f = more if rare is None else map(add, rare, more)
    return (a, b, c, d, e, f) if a or b or c or d or e or f else None


class FactRow(msgspec.Struct, gc=False, array_like=True):
    """One fact, without the history of its changes. `reason` is the one it was added with."""

    id: str
    text: str
    confidence: float | None
    source: str | None
    agent: str
    added: int
    modified: int
    reason: str | None

    @classmethod
    def of(cls, fact: Fact) -> FactRow:
        return cls(
            fact.id,
            fact.text,
            fact.confidence,
            fact.source,
            fact.agent,
            fact.added,
            fact.modified,
            fact.history[0][2],
        )

    def entry(self) -> Entry:
        """Its history, as long as it has not been changed."""
        return (self.added, self.confidence, self.reason)

    def frozen(self, history: Sequence[Entry]) -> Fact:
        return Fact(
            self.id,
            self.text,
            self.confidence,
            self.source,
            self.agent,
            self.added,
            self.modified,
            history,
        )
