"""What a fold of events says, as frozen values.

A `State` is what was true after one seq. Its mappings and sequences are read-only; iterating them
gives events' order; they compare equal to plain dicts and tuples of the same content. Texts that would
make a state heavy (message contents, tool outputs) are not copied into it: a value holds the seq of its
event, and `Timeline.event(seq)` has the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import msgspec

#: A number of things. The bound keeps sums of them in 64 bits.
Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]

#: Kinds of step that are one call of a model.
MODEL_KINDS = frozenset({"llm", "embedding"})


#: Counts of `Tokens` that most calls have none of, in its order.
Rare = tuple[int, int, int, int, int, int]
RARE = (
    "cache_write_1h", "input_audio", "cache_read_audio", "output_audio", "output_image", "web_searches"
)  # fmt: skip


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Token counts. `input` includes cached tokens; `cache_read`, `cache_write` are parts of it,
    `reasoning` is a part of `output` (ARCHITECTURE section 3). Most calls have nothing of the rest: parts
    of these that have prices of their own, and searches (`lctl.payloads.core.Tokens`)."""

    input: Count = 0
    output: Count = 0
    cache_read: Count = 0
    cache_write: Count = 0
    reasoning: Count = 0
    cache_write_1h: Count = 0
    input_audio: Count = 0
    cache_read_audio: Count = 0
    output_audio: Count = 0
    output_image: Count = 0
    web_searches: Count = 0

    @property
    def total(self) -> int:
        return self.input + self.output

    @property
    def rare(self) -> Rare | None:
        """What is counted behind `reasoning`; None where all of it is 0."""
        a, b, c = self.cache_write_1h, self.input_audio, self.cache_read_audio
        d, e, f = self.output_audio, self.output_image, self.web_searches
        return (a, b, c, d, e, f) if a or b or c or d or e or f else None

    def to_dict(self) -> dict[str, int]:
        """By name, without those of `rare` that are 0."""
        counts = msgspec.structs.asdict(self)
        return {name: count for name, count in counts.items() if count or name not in RARE}


def total_tokens(counts: Iterable[Tokens | None]) -> Tokens:
    """Each of them summed; None counts nothing."""
    known = [msgspec.structs.astuple(one) for one in counts if one is not None]
    return Tokens(*map(sum, zip(*known, strict=True)))


class Fact(msgspec.Struct, frozen=True, gc=False):
    """A fact as it stands. `history` has one (seq, confidence, reason) per event, oldest first."""

    id: str
    text: str
    confidence: float | None
    source: str | None
    agent: str
    added: int
    modified: int
    history: Sequence[tuple[int, float | None, str | None]] = ()


class Step(msgspec.Struct, frozen=True, gc=False):
    """A step as it stands; `end` and `end_seq` are None while it is open. `seq` of the step_start is
    its name.

    Attributes:
        parent: a step of this log, or None. A parent the log does not have is a diagnostic.
        tokens: as its own step_end reported them; until then what its streams did, see `streamed`.
        counted: `tokens` are in the totals. They are not while a step beneath it has reported its own.
        covered: a step beneath it has reported tokens.
        streamed: `tokens` are those of its streams: they stand as long as no step here, above or beneath
            reports any.
        errors, tool_calls: events directly in this step, not in the steps beneath it.
    """

    seq: int
    agent: str
    kind: str
    intent: str
    parent: int | None
    start: str  # timestamp
    end: str | None = None
    end_seq: int | None = None
    outcome: str | None = None
    duration_ms: float | None = None  # wall time; from step_end, else from the timestamps
    tokens: Tokens | None = None
    model: str | None = None
    tool: str | None = None
    children: Sequence[int] = ()
    errors: int = 0
    tool_calls: int = 0
    counted: bool = False
    covered: bool = False
    streamed: bool = False


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Sums for one agent, model or tool.

    Attributes:
        calls: of an agent: steps it began. Of a model: calls that ended, under the name of the model that
            answered. Of a tool: its tool_call events.
        errors: of an agent: error events. Of a model or tool: calls that failed.
        wall_ms: of an agent: time in which at least one of its steps was open, nested and parallel steps
            once, up to the newest moment when none was (`times.by_agent` has it up to now). Of a model
            or tool: sum of the durations of its calls.
        running: of an agent: its open steps.
        since: of an agent with open steps: timestamp from which it has had one.
    """

    calls: int = 0
    errors: int = 0
    wall_ms: float = 0.0
    tokens: Tokens = Tokens()
    running: int = 0
    since: str | None = None


class Totals(msgspec.Struct, frozen=True, gc=False):
    """Sums over the chain up to a seq. `tokens` counts each token once, see `steps.py`."""

    events: int = 0
    steps: int = 0
    llm_calls: int = 0
    tool_calls: int = 0
    errors: int = 0
    messages: int = 0
    tokens: Tokens = Tokens()
    duration_ms: float = 0.0  # from the earliest timestamp to the latest


class Message(msgspec.Struct, frozen=True, gc=False):
    """One node of the conversation forest; content is in the event at `seq`.

    `parent` is None for a root. A parent that no message of the log has (yet) is named in
    `State.parked`; the message is then an orphan, and becomes a child the moment the parent arrives.
    """

    id: str
    seq: int
    role: str
    parent: str | None
    sampled: bool = False
    status: str = "complete"


class Stream(msgspec.Struct, frozen=True, gc=False):
    """A stream as it stands: chunks so far, whether it ended and how."""

    seq: int
    agent: str
    message_id: str | None
    chunks: int = 0
    tokens: int = 0
    end_seq: int | None = None
    status: str = "streaming"


class Diagnostic(msgspec.Struct, frozen=True, gc=False):
    """Something in the log that the fold could not take at its word.

    Codes: seq_gap, seq_order, data_not_object, bad_value, missing_id, confidence_range, fact_again,
    fact_unknown, step_unknown, step_again, step_ended_twice, stream_unknown, stream_gap,
    stream_after_end, msg_conflict, msg_cycle, alias_conflict.
    """

    seq: int
    code: str
    text: str


class State(msgspec.Struct, frozen=True):
    """Everything the events with seq <= `seq` say.

    Attributes:
        handoffs: seqs of handoff events.
        open_streams: seqs of the streams that have not ended.
        aliases: other ids of messages, to the id each stands for.
        tips: conversation id to the newest message in it, to which one without parent_id is added.
        parked: ids that messages name as parent and that no message has had yet, with the number of
            messages that wait for it; 0 once it has arrived.
        structural: events of this log name their step, so none is guessed.
        interrupted: seq of the newest error event that is Ctrl-C.
    """

    seq: int
    chain_id: str
    facts: Mapping[str, Fact]
    steps: Mapping[int, Step]
    open_steps: Sequence[int]
    agents: Mapping[str, Usage]
    models: Mapping[str, Usage]
    tools: Mapping[str, Usage]
    messages: Mapping[str, Message]
    streams: Mapping[int, Stream]
    tool_calls: Sequence[int]  # seqs of tool_call events
    errors: Sequence[int]  # seqs of error events
    checkpoints: Sequence[int]  # seqs of checkpoint events
    totals: Totals
    diagnostics: Sequence[Diagnostic]
    first_timestamp: str | None  # the earliest
    last_timestamp: str | None  # the latest
    last_agent: str | None  # agent of the newest event that names one
    handoffs: Sequence[int] = ()
    open_streams: Sequence[int] = ()
    aliases: Mapping[str, str] = msgspec.field(default_factory=dict)
    tips: Mapping[str, str] = msgspec.field(default_factory=dict)
    parked: Mapping[str, int] = msgspec.field(default_factory=dict)
    structural: bool = False
    interrupted: int | None = None

    @property
    def current_step(self) -> int | None:
        """The step opened last that is still open."""
        return self.open_steps[-1] if self.open_steps else None
