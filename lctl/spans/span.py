"""A span, as a plain value: what OTLP has of one, without any library's classes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from lctl.state.moments import moment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(slots=True)
class Mark:
    """Something that happened at one moment of a span (OpenTelemetry calls it a span event)."""

    name: str
    at_ns: int
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Link:
    """A span of another trace that this one comes from."""

    trace_id: str
    span_id: str
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Span:
    """One span.

    Attributes:
        trace_id, span_id: hex of 16 and 8 bytes.
        parent_id: "" of a trace's first span.
        client: it is a call that leaves the process.
        start_ns, end_ns: nanoseconds since the epoch; 0 where it is not known.
        attributes: texts, numbers, truths and lists of them; `any` values where the receiver takes them.
        error: why it failed, "" where it did not.
        ok: it is known to have succeeded.
        scope: name of what wrote it.
        resource: attributes of the program.
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    attributes: dict[str, Any] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    client: bool = False
    error: str = ""
    ok: bool = False
    scope: str = "lctl"
    resource: dict[str, Any] = field(default_factory=dict)


def trace_id(chain_id: str) -> str:
    """The trace of a chain: always the same, so that a second export says the same spans again."""
    return hashlib.sha256(f"lctl trace {chain_id}".encode()).hexdigest()[:32]


def span_id(chain_id: str, seq: int) -> str:
    """The span of a chain's event; that of event 0 is the chain's own."""
    return hashlib.sha256(f"lctl span {chain_id} {seq}".encode()).hexdigest()[:16]


def nanoseconds(timestamp: object) -> int:
    """Nanoseconds since the epoch of a log's timestamp; 0 where it cannot be read."""
    at = moment(timestamp)
    if at is None:
        return 0
    try:
        return max(0, (at - _EPOCH) // _MICROSECOND * 1000)
    except OverflowError:
        return 0


def timestamp_of(ns: int) -> str:
    """As a log writes it, to the microsecond; "" of 0 and of what no calendar holds."""
    if ns <= 0:
        return ""
    try:
        at = _EPOCH + timedelta(microseconds=ns // 1000)
    except OverflowError:
        return ""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if at.year >= 1000 else ""
