"""Shapes of cost, search, comparison, what-if and fork."""

from __future__ import annotations

from typing import Any

import msgspec

from lctl.debugger.shapes.common import Change, Row, Shape
from lctl.state.model import Tokens


class Usage(Shape, frozen=True, kw_only=True):
    name: str
    calls: int
    errors: int
    retries: int
    llm_calls: int
    tool_calls: int
    p50_ms: float | None
    p95_ms: float | None
    wall_ms: float
    exclusive_ms: float
    tokens: Tokens
    cost: float | None
    unpriced: int


class Segment(Shape, frozen=True, kw_only=True):
    step: int | None
    agent: str
    name: str
    start_ms: float
    end_ms: float


class Slow(Shape, frozen=True, kw_only=True):
    seq: int
    agent: str
    kind: str
    intent: str
    wall_ms: float
    exclusive_ms: float
    share: float
    critical_ms: float
    open: bool


class CacheUse(Shape, frozen=True, kw_only=True):
    name: str
    input: int
    read: int
    write: int
    share: float


class Cache(Shape, frozen=True, kw_only=True):
    """`saved`: US dollars less than without a cache; null where no price is known."""

    input: int
    read: int
    write: int
    share: float
    saved: float | None
    by_model: list[CacheUse]


class Waste(Shape, frozen=True, kw_only=True):
    what: str
    title: str
    text: str
    times: int
    tokens: int | None
    cost: float | None
    ms: float | None
    seqs: list[int]


class Inherited(Shape, frozen=True, kw_only=True):
    calls: int
    tokens: Tokens
    cost: float | None


class Costs(Shape, frozen=True, kw_only=True):
    """`progress`: below 1 only the sums are there yet: no times, critical path or waste; ask again.
    `since`: a long log is still being read, and the sums are of the events from there on."""

    duration_ms: float
    cost: float | None
    unpriced: list[tuple[str, int]]
    tokens: Tokens
    inherited: Inherited
    agents: list[Usage]
    models: list[Usage]
    tools: list[Usage]
    critical: list[Segment]
    slowest: list[Slow]
    idle_ms: float
    recommendation: str | None
    cache: Cache
    waste: list[Waste]
    confidence: float | None
    first_chunk_p50_ms: float | None
    progress: float = 1.0
    since: int | None = None


class Found(Shape, frozen=True, kw_only=True):
    rows: list[Row]
    next: int | None
    matches: int
    scanned: int
    progress: float
    bins: list[int]


class SearchHelp(Shape, frozen=True, kw_only=True):
    fields: list[str]
    types: list[str]
    values: dict[str, list[str]]
    tables: dict[str, list[str]]


class Table(Shape, frozen=True, kw_only=True):
    """Rows of a query. `seqs`: which column names events, if one does; `more`: there are more rows."""

    columns: list[str]
    rows: list[list[Any]]
    more: bool
    seqs: int | None
    ms: float
    command: str


class Side(Shape, frozen=True, kw_only=True):
    """`tokens`, `cost` and `llm_calls` are of all model calls, answered from the tape or not; `live_...` of
    those that the run sent itself."""

    key: str
    id: str
    events: int
    duration_ms: float
    tokens: int | None
    cost: float | None
    errors: int
    llm_calls: int
    live_calls: int
    live_tokens: int | None
    live_cost: float | None
    tool_calls: int
    first_seq: int
    last_seq: int


class ForkPoint(Shape, frozen=True, kw_only=True):
    seq: int | None
    fork: str
    edits: list[str]


class Field(Shape, frozen=True, kw_only=True):
    path: str
    left: Any
    right: Any
    unified: list[str]


class Difference(Shape, frozen=True, kw_only=True):
    n: int
    kind: str
    title: str
    events: int
    left: Row | None
    right: Row | None
    fields: list[Field]


class Comparison(Shape, frozen=True, kw_only=True):
    """`blocks`: [left seq, right seq, length] of what stands beside each other."""

    left: Side
    right: Side
    fork: ForkPoint | None
    equal: int
    total: int
    next: int | None
    differences: list[Difference]
    blocks: list[tuple[int, int, int]]


class Pair(Shape, frozen=True, kw_only=True):
    left: Row | None
    right: Row | None
    kind: str
    difference: int | None


class Pairs(Shape, frozen=True, kw_only=True):
    rows: list[Pair]
    total: int
    next: int | None


class WhatIfAsked(msgspec.Struct, kw_only=True):
    """`data`: the whole new data of event `at`."""

    run: str | None = None
    at: int | None = None
    set: list[str] = []
    data: dict[str, Any] | None = None
    drop: list[int] = []
    insert: list[dict[str, Any]] = []
    to_seq: int | None = None


class Confidence(Shape, frozen=True, kw_only=True):
    fact: str
    first: int
    last: int
    before: float | None
    after: float | None
    gates: tuple[str | None, str | None]


class WhatIf(Shape, frozen=True, kw_only=True):
    changes: list[Change]
    total: int
    confidence: list[Confidence]
    events: int
    touched: list[int]
    edits: list[str]
    command: str
    to_seq: int
    notes: list[str] = msgspec.field(default_factory=list)


class ForkAsked(msgspec.Struct, kw_only=True):
    """`tools`: live, recorded, dry-run or ask; `policy`: NAME=HOW of single tools."""

    run: str | None = None
    at: int
    set: list[str] = []
    result: list[str] = []
    data: dict[str, Any] | None = None
    tools: str | None = None
    policy: list[str] = []
    all_live: bool = False


class LiveCall(Shape, frozen=True, kw_only=True):
    seq: int
    name: str
    agent: str


class ForkPrepared(Shape, frozen=True, kw_only=True):
    """`confirm`: what /api/fork/run takes, once; null without --allow-run."""

    command: str
    argv: list[str]
    notes: list[str]
    live_calls: list[LiveCall]
    program: list[str]
    cwd: str | None
    edits: list[str]
    at: int
    possible: bool
    problem: str
    confirm: str | None


class ForkConfirmed(msgspec.Struct, kw_only=True):
    confirm: str


class ForkStop(msgspec.Struct, kw_only=True):
    job: str


class ForkStopped(Shape, frozen=True, kw_only=True):
    stopped: bool
