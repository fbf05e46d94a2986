"""Shapes of the time bar and of events."""

from __future__ import annotations

from typing import Any

from lctl.debugger.shapes.common import Row, Shape, Span
from lctl.debugger.shapes.conversation import Call
from lctl.state.model import Tokens


class Lane(Shape, frozen=True, kw_only=True):
    """One agent's events by bin; `others` agents are together in the last lane, if there are so many.

    `tools`: its tool calls as [seq, start_ms, end_ms, failed, name].
    """

    agent: str
    total: int
    counts: list[int]
    errors: list[int]
    spans: list[Span] | None
    tools: list[tuple[int, float | None, float | None, bool, str]] | None = None
    others: int = 0


class Timeline(Shape, frozen=True, kw_only=True, rename={"first": "from", "last": "to"}):
    """Bin i holds edges[i] <= seq < edges[i+1] and begins at ms[i]."""

    first: int
    last: int
    by: str
    edges: list[int]
    ms: list[float | None]
    progress: float
    lanes: list[Lane]
    errors: list[int]
    checkpoints: list[int]
    handoffs: list[int]
    cut: dict[str, bool]


class Neighbour(Shape, frozen=True, kw_only=True):
    seq: int | None


class Ticks(Shape, frozen=True, kw_only=True, rename={"first": "from"}):
    first: int
    ms: list[float | None]
    next: int | None


class Events(Shape, frozen=True, kw_only=True):
    rows: list[Row]
    next: int | None
    total: int | None


class Aside(Shape, frozen=True, kw_only=True):
    """`stretches`: first and last seq of each."""

    stretches: list[tuple[int, int]]
    events: int
    upto: int
    progress: float


class Place(Shape, frozen=True, kw_only=True):
    seq: int
    name: str
    kind: str


class Related(Shape, frozen=True, kw_only=True):
    seq: int
    relation: str
    summary: str


class Exchange(Shape, frozen=True, kw_only=True):
    """One request on the wire and what came of it.

    Of a request's body the log may tell `size` and `hash` only (see `Copy`). Of `response`, `body` is one
    text, `chunks` are [ms, text], and `notes` say what was not kept.
    """

    seq: int
    method: str
    url: str
    status: int | None
    duration_ms: float | None
    request: dict[str, Any]
    response: dict[str, Any]
    error: Any
    streamed: bool


class Copy(Shape, frozen=True, kw_only=True):
    """The same as a command, as Python, as curl; `body` is the request's, put together from its messages."""

    lctl: str
    python: str
    curl: str | None
    body: str | None = None


class Forkable(Shape, frozen=True, kw_only=True):
    at: int
    possible: bool
    reason: str


class EventView(Shape, frozen=True, kw_only=True):
    """One event in full; `truncated`: too large, /api/raw has all of it."""

    row: Row
    event: dict[str, Any]
    raw: str
    truncated: bool
    previous: int | None
    next: int | None
    path: list[Place]
    call: Call | None
    exchanges: list[Exchange]
    cost: float | None
    tokens: Tokens | None
    related: list[Related]
    copy: Copy
    fork: Forkable
