"""Shapes that several answers share. `ms` is milliseconds since the run's earliest timestamp, `*_ms` a
duration, `cost` US dollars; null is not known or not said, never 0."""

from __future__ import annotations

from typing import Any

import msgspec

from lctl.state.model import Tokens


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, or a part of one."""


class Failure(Shape, frozen=True, kw_only=True):
    """`position`: column of a query that cannot be read, from 0."""

    code: str
    message: str
    position: int | None = None


class Failed(Shape, frozen=True, kw_only=True):
    error: Failure


class Row(Shape, frozen=True, kw_only=True):
    """An event in a list. `size` is of its line, in bytes."""

    seq: int
    type: str
    agent: str
    step: int | None
    depth: int
    ms: float | None
    timestamp: str
    summary: str
    error: bool
    kind: str | None
    name: str | None
    duration_ms: float | None
    size: int


class Span(Shape, frozen=True, kw_only=True):
    """A step in time; `name` is its tool, model, intent or kind."""

    seq: int
    end_seq: int | None
    agent: str
    kind: str
    name: str
    intent: str
    parent: int | None
    depth: int
    start_ms: float | None
    end_ms: float | None
    open: bool
    error: bool
    tokens: Tokens | None
    cost: float | None
    model: str | None
    tool: str | None
    outcome: str | None


class Change(Shape, frozen=True, kw_only=True):
    """One field that is another; `field` "" stands for the whole entry, null for "not there"."""

    section: str
    name: str
    field: str
    before: Any
    after: Any


class Totals(Shape, frozen=True, kw_only=True):
    events: int
    steps: int
    llm_calls: int
    tool_calls: int
    errors: int
    messages: int
    tokens: Tokens
    duration_ms: float
    cost: float | None
    facts: int
    checkpoints: int
