"""Shapes of the state at a seq, of the flow between agents and of steps."""

from __future__ import annotations

from lctl.debugger.shapes.common import Change, Shape, Span, Totals
from lctl.state.model import Tokens


class AgentState(Shape, frozen=True, kw_only=True):
    name: str
    calls: int
    errors: int
    wall_ms: float
    running: int
    tokens: Tokens
    changed: bool


class ModelState(Shape, frozen=True, kw_only=True):
    name: str
    calls: int
    errors: int
    wall_ms: float
    tokens: Tokens
    cost: float | None
    changed: bool


class ToolState(Shape, frozen=True, kw_only=True):
    name: str
    calls: int
    errors: int
    wall_ms: float
    changed: bool


class StreamState(Shape, frozen=True, kw_only=True):
    seq: int
    agent: str
    message_id: str | None
    chunks: int
    tokens: int


class FactState(Shape, frozen=True, kw_only=True):
    """`history`: [seq, confidence, reason] of each event about it."""

    id: str
    text: str
    confidence: float | None
    source: str | None
    agent: str
    added: int
    modified: int
    gate: str | None
    history: list[tuple[int, float | None, str | None]]
    changed: bool


class Note(Shape, frozen=True, kw_only=True):
    seq: int
    code: str
    text: str


class StateView(Shape, frozen=True, kw_only=True):
    """`changes`: what the event at `seq` changed. `since`: a long log is still being read, and the state is
    of the events from there on; sums but tokens and cost are from the beginning."""

    seq: int
    timestamp: str | None
    ms: float | None
    totals: Totals
    progress: float
    since: int | None = None
    agents: list[AgentState]
    models: list[ModelState]
    tools: list[ToolState]
    open_steps: list[Span]
    open_step_count: int
    streams: list[StreamState]
    facts: list[FactState]
    fact_count: int
    diagnostics: list[Note]
    diagnostic_count: int
    changes: list[Change]


class Facts(Shape, frozen=True, kw_only=True):
    total: int
    next: int | None
    facts: list[FactState]


class StateDiff(Shape, frozen=True, kw_only=True, rename={"first": "from", "last": "to"}):
    first: int
    last: int
    changes: list[Change]
    total: int
    cut: bool


class Series(Shape, frozen=True, kw_only=True):
    """(seq, value): the value holds from that seq on."""

    name: str
    points: list[tuple[int, float | None]]


class Trend(Shape, frozen=True, kw_only=True):
    what: str
    series: list[Series]


class FlowNode(Shape, frozen=True, kw_only=True):
    agent: str
    steps: int
    llm_calls: int
    tool_calls: int
    errors: int
    tokens: Tokens
    wall_ms: float
    first: int
    last: int
    running: bool
    models: list[str]
    tools: list[str]


class FlowEdge(Shape, frozen=True, kw_only=True, rename={"source": "from", "target": "to"}):
    """`kind`: handoff (an event says so), call (a step inside a step) or next (the run went on there)."""

    source: str
    target: str
    kind: str
    count: int
    first: int
    last: int
    seqs: list[int]


class Flow(Shape, frozen=True, kw_only=True):
    nodes: list[FlowNode]
    edges: list[FlowEdge]
    cut: bool
    progress: float = 1.0


class Steps(Shape, frozen=True, kw_only=True):
    spans: list[Span]
    total: int
    cut: bool
    depth: int
    from_ms: float | None
    to_ms: float | None
    collapsed: int
    progress: float = 1.0
