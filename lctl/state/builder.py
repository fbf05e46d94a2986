"""A state while a block of events is being folded into it.

Purity is kept at the edge: a `Builder` starts from a frozen state, is written to by the handlers, and
gives a frozen state back; the one it started from is never touched. Inside, steps and sums are mutable
rows, read from the base when an event first needs them, so a block costs what it changes and not what
the state holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableSequence, Sequence
from typing import Any, TypeVar

from lctl.state.layers import extended, lazily, over
from lctl.state.model import Diagnostic, Fact, Message, State, Step, Stream, Totals, Usage
from lctl.state.moments import elapsed_ms
from lctl.state.rows import Entry, FactRow, StepRow, UsageRow
from lctl.state.tables import Ledger, Messages, Opens, Table, keys_of, rows_of

K = TypeVar("K")
V = TypeVar("V")


class Builder:
    """What the handlers write to. `frozen()` is the state that results.

    Args:
        base: the state to start from.
        read: for a builder that writes for an index: makes a message of its id and the seq of its event.
    """

    __slots__ = (
        "agents",
        "aliases",
        "base",
        "changed",
        "checkpoints",
        "children",
        "diagnostics",
        "disorder",
        "errors",
        "events",
        "facts",
        "first_timestamp",
        "handoffs",
        "has_aliases",
        "has_parked",
        "has_streams",
        "histories",
        "inherited",
        "interrupted",
        "kept_facts",
        "known_facts",
        "known_steps",
        "last_agent",
        "last_timestamp",
        "live",
        "llm_calls",
        "message_count",
        "messages",
        "met",
        "models",
        "new_tips",
        "old_histories",
        "open_steps",
        "open_streams",
        "parked",
        "seq",
        "stacks",
        "step_count",
        "stream_ids",
        "streams",
        "structural",
        "thaw_fact",
        "thaw_step",
        "tips",
        "tokens",
        "tool_calls",
        "tools",
    )

    def __init__(self, base: State, read: Callable[[str, int], Message] | None = None) -> None:
        totals = base.totals
        self.base = base
        self.seq = base.seq
        self.events = totals.events
        self.step_count = totals.steps
        self.llm_calls = totals.llm_calls
        self.message_count = totals.messages
        self.tokens = UsageRow.of(Usage(tokens=totals.tokens))  # of a row, only the tokens
        self.first_timestamp = base.first_timestamp
        self.last_timestamp = base.last_timestamp
        self.last_agent = base.last_agent
        self.structural = base.structural
        self.interrupted = base.interrupted

        self.known_steps, self.known_facts = keys_of(base.steps), keys_of(base.facts)
        self.thaw_step, self.thaw_fact = rows_of(base.steps), rows_of(base.facts)
        self.inherited: dict[int, Sequence[int]] = {}  # children in the base of the steps read from it
        self.live: dict[int, StepRow] = {}  # open steps that were needed
        self.changed: dict[int, StepRow] = {}  # steps that differ from the base
        self.children: dict[int, list[int]] = {}  # parent -> those that are new
        self.open_steps = Opens(base.open_steps)
        self.stacks: dict[str, list[int]] | None = None  # agent -> its steps; built when first needed
        self.facts: dict[str, FactRow] = {}
        self.kept_facts: dict[str, FactRow] = {}  # rows an index let go of, to be had without unpacking
        self.old_histories: dict[str, Sequence[Entry]] = {}  # of the facts read from the base
        self.histories: dict[str, list[Entry]] = {}  # of each changed fact, the entries that are new
        self.agents = Ledger(base.agents)
        self.models = Ledger(base.models)
        self.tools = Ledger(base.tools)
        self.messages = Messages(base.messages, read)
        self.aliases: Table[str, str] = Table(base.aliases)
        self.tips: Table[str, str] = Table(base.tips)
        self.met, self.new_tips = self.agents.met, self.tips.fresh  # at hand: every other event asks for them
        self.parked: Table[str, int] = Table(base.parked)
        self.streams: Table[int, Stream] = Table(base.streams)
        self.open_streams = Opens(base.open_streams)
        self.stream_ids: dict[str, int] | None = None  # message id -> open stream, likewise
        self.tool_calls: MutableSequence[int] = []
        self.errors: MutableSequence[int] = []
        self.checkpoints: MutableSequence[int] = []
        self.handoffs: MutableSequence[int] = []
        self.diagnostics: list[Diagnostic] = []
        self.disorder = False  # an event came out of order, so its seq may be taken
        self.has_aliases = len(base.aliases) > 0  # most logs have none, and need not look
        self.has_parked = len(base.parked) > 0
        self.has_streams = len(base.streams) > 0

    def note(self, seq: int, code: str, text: str) -> None:
        self.diagnostics.append(Diagnostic(seq, code, text))

    def has_step(self, seq: int) -> bool:
        return seq in self.live or seq in self.changed or seq in self.known_steps

    def step(self, seq: int) -> StepRow | None:
        """The row of a step, to be changed; None if there is no such step."""
        row = self.live.get(seq) or self.changed.get(seq)
        if row is None:
            known = self._read_step(seq)
            if known is None:
                return None
            row, self.inherited[seq] = known
            if row.end_seq is None:
                self.live[seq] = row
        self.changed[seq] = row
        return row

    def _read_step(self, seq: int) -> tuple[StepRow, Sequence[int]] | None:
        if self.thaw_step is not None:
            return self.thaw_step(seq)
        step = self.base.steps.get(seq)
        return None if step is None else (StepRow.of(step), step.children)

    def children_of(self, seq: int) -> Sequence[int]:
        """The steps begun in a step so far."""
        known = self._read_step(seq)
        return [*(known[1] if known is not None else ()), *self.children.get(seq, ())]

    def newest_open_step(self, agent: str) -> int | None:
        """The step of `agent` opened last that is still open."""
        if self.stacks is None:
            self.stacks = {}
            for seq in reversed(list(self.open_steps.newest_first())):
                row = self.live.get(seq)
                name = self.base.steps[seq].agent if row is None else row.agent
                self.stacks.setdefault(name, []).append(seq)
        stack = self.stacks.get(agent)
        while stack:
            if self._is_open(stack[-1]):
                return stack[-1]
            stack.pop()
        return None

    def _is_open(self, seq: int) -> bool:
        row = self.live.get(seq) or self.changed.get(seq)
        return (self.base.steps[seq] if row is None else row).end_seq is None

    def fact(self, id: str) -> tuple[FactRow, list[Entry]] | None:
        """The row of a fact that is about to change, and where its history goes on; None if there is no such
        fact."""
        row = self.facts.get(id)
        if row is not None:
            entries = self.histories.get(id)
            if entries is None:  # of a new fact the row is all there is
                entries = self.histories[id] = [row.entry()]
            return row, entries
        row = self.kept_facts.get(id)
        if row is not None:  # its history, unless the index has one already, is what it says itself
            self.old_histories[id] = (row.entry(),)
        else:
            known = self._read_fact(id)
            if known is None:
                return None
            row, self.old_histories[id] = known
        self.facts[id] = row
        entries = self.histories[id] = []
        return row, entries

    def _read_fact(self, id: str) -> tuple[FactRow, Sequence[Entry]] | None:
        if self.thaw_fact is not None:
            return self.thaw_fact(id)
        fact = self.base.facts.get(id)
        return None if fact is None else (FactRow.of(fact), fact.history)

    def frozen(self, *, lazy: bool = False) -> State:
        """The state. The builder is used up: it must not be written to again.

        Args:
            lazy: for a state to look at rather than to fold on from: what nobody looks at is not made.
        """
        base = self.base
        for parent in self.children:
            self.step(parent)
        freeze = lazily if lazy else _at_once
        tool_calls = extended(base.tool_calls, self.tool_calls)
        errors = extended(base.errors, self.errors)
        return State(
            seq=self.seq,
            chain_id=base.chain_id,
            facts=freeze(base.facts, self.facts, self._frozen_fact),
            steps=freeze(base.steps, self.changed, self._frozen_step),
            open_steps=self.open_steps.frozen(),
            agents=self.agents.frozen(lazy=lazy),
            models=self.models.frozen(lazy=lazy),
            tools=self.tools.frozen(lazy=lazy),
            messages=self.messages.frozen(),
            streams=self.streams.frozen(),
            tool_calls=tool_calls,
            errors=errors,
            checkpoints=extended(base.checkpoints, self.checkpoints),
            totals=self._totals(len(tool_calls), len(errors)),
            diagnostics=extended(base.diagnostics, self.diagnostics),
            first_timestamp=self.first_timestamp,
            last_timestamp=self.last_timestamp,
            last_agent=self.last_agent,
            handoffs=extended(base.handoffs, self.handoffs),
            open_streams=self.open_streams.frozen(),
            aliases=self.aliases.frozen(),
            tips=self.tips.frozen(),
            parked=self.parked.frozen(),
            structural=self.structural,
            interrupted=self.interrupted,
        )

    def _frozen_step(self, row: StepRow) -> Step:
        known = self.inherited.get(row.seq, ())
        new = self.children.get(row.seq)
        return row.frozen(known if new is None else extended(known, new))

    def _frozen_fact(self, row: FactRow) -> Fact:
        entries = self.histories.get(row.id)
        if entries is None:  # new here, and not changed since
            return row.frozen((row.entry(),))
        return row.frozen(extended(self.old_histories.get(row.id, ()), entries))

    def _totals(self, tool_calls: int, errors: int) -> Totals:
        return Totals(
            events=self.events,
            steps=self.step_count,
            llm_calls=self.llm_calls,
            tool_calls=tool_calls,
            errors=errors,
            messages=self.message_count,
            tokens=self.tokens.tokens(),
            duration_ms=elapsed_ms(self.first_timestamp, self.last_timestamp) or 0.0,
        )


def _at_once(base: Mapping[K, V], rows: dict[K, Any], make: Callable[[Any], V]) -> Mapping[K, V]:
    return over(base, {key: make(row) for key, row in rows.items()})
