"""Shapes of the folder view and of one run's header."""

from __future__ import annotations

from typing import Any

from lctl.debugger.shapes.common import Shape, Totals
from lctl.state.model import Tokens


class Session(Shape, frozen=True, kw_only=True):
    """What this server is. `run` is the one it was started for, null for a folder."""

    version: str
    allow_run: bool
    run: str | None
    folder: str | None
    platform: str
    static: bool


class Run(Shape, frozen=True, kw_only=True):
    """A recorded run in a list.

    Attributes:
        status: ok, error, interrupted (also aborted, cancelled), live, unfinished, unknown (how it ended
            would have to be read) or unreadable.
        kind: recording, fork, rerun or child.
        parent: key of the run it came of; its id where that one is not here.
        at: the event it parted from its parent after.
        damage: what is wrong inside the log; `lost`: events that its program could not record.
    """

    key: str
    id: str
    name: str
    path: str
    started: str
    events: int | None
    size: int
    duration_ms: float | None
    tokens: Tokens | None
    cost: float | None
    errors: int | None
    facts: int | None
    agents: list[str]
    status: str
    live: bool
    kind: str
    parent: str | None
    at: int | None
    edits: list[str]
    depth: int
    problem: str
    damage: str
    lost: int


class Runs(Shape, frozen=True, kw_only=True):
    total: int
    next: int | None
    counts: dict[str, int]
    runs: list[Run]


class Lineage(Shape, frozen=True, kw_only=True):
    runs: list[Run]


class Sparks(Shape, frozen=True, kw_only=True):
    """Events per slice of time, sampled."""

    sparks: dict[str, list[int]]


class Problem(Shape, frozen=True, kw_only=True):
    seq: int | None
    line: int | None
    text: str


class Parent(Shape, frozen=True, kw_only=True):
    id: str
    key: str | None
    seq: int | None


class Fork(Shape, frozen=True, kw_only=True):
    key: str
    id: str
    at: int | None
    edits: list[str]


class Program(Shape, frozen=True, kw_only=True):
    argv: list[str]
    cwd: str | None


class AgentRange(Shape, frozen=True, kw_only=True):
    name: str
    events: int
    first: int
    last: int


class RunHeader(Shape, frozen=True, kw_only=True):
    """One run. `agents`, `types` and `failures` grow until `progress` is 1. `end_seq`: the last event that
    not only a rerun needs. `failures`: errors, failed tool calls, and steps that failed without one of
    these."""

    key: str
    id: str
    name: str
    path: str
    version: str
    form: str
    size: int
    first_seq: int
    last_seq: int
    end_seq: int
    events: int
    first_timestamp: str | None
    last_timestamp: str | None
    duration_ms: float
    status: str
    live: bool
    notes: list[str]
    problems: list[Problem]
    problem_count: int
    kind: str
    parent: Parent | None
    edits: list[str]
    forks: list[Fork]
    program: Program | None
    certificate: dict[str, Any] | None
    can_fork: bool
    progress: float
    agents: list[AgentRange]
    types: dict[str, int]
    totals: Totals | None
    failures: int
