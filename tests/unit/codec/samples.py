"""Logs as bytes, for the codec's tests."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import orjson

CHAIN = {"id": "security-review-001"}

#: The protocol's own example (its Part 2), as values.
SPEC_EVENTS: list[dict[str, Any]] = [
    {
        "seq": 1,
        "type": "step_start",
        "timestamp": "2024-01-15T10:30:00Z",
        "agent": "code-analyzer",
        "data": {"intent": "analyze", "input_summary": "UserController.py - 200 lines"},
    },
    {
        "seq": 2,
        "type": "fact_added",
        "timestamp": "2024-01-15T10:30:15Z",
        "agent": "code-analyzer",
        "data": {
            "id": "F1",
            "text": "SQL query constructed from user input at line 45",
            "confidence": 0.85,
            "source": "static-analysis",
        },
    },
    {
        "seq": 3,
        "type": "tool_call",
        "timestamp": "2024-01-15T10:30:16Z",
        "agent": "code-analyzer",
        "data": {
            "tool": "grep",
            "input": {"pattern": "execute.*user", "file": "UserController.py"},
            "output": {"matches": 3, "lines": [45, 67, 89]},
            "duration_ms": 50,
        },
    },
    {
        "seq": 4,
        "type": "step_end",
        "timestamp": "2024-01-15T10:30:30Z",
        "agent": "code-analyzer",
        "data": {
            "outcome": "success",
            "output_summary": "Found 1 potential SQL injection",
            "duration_ms": 30000,
            "tokens": {"input": 500, "output": 200},
        },
    },
    {
        "seq": 5,
        "type": "checkpoint",
        "timestamp": "2024-01-15T10:30:31Z",
        "agent": "system",
        "data": {
            "state_hash": "abc123",
            "facts_snapshot": {"F1": {"text": "SQL query constructed...", "confidence": 0.85}},
        },
    },
    {
        "seq": 6,
        "type": "step_start",
        "timestamp": "2024-01-15T10:30:32Z",
        "agent": "security-reviewer",
        "data": {"intent": "assess", "input_summary": "Review F1 for exploitability"},
    },
]


def event(seq: int, text: str = "x", **envelope: Any) -> dict[str, Any]:
    """A small fact event."""
    return {
        "seq": seq,
        "type": "fact_added",
        "timestamp": "2026-01-01T00:00:00.000000Z",
        "agent": "a",
        **envelope,
        "data": {"id": f"F{seq}", "text": text},
    }


def lines(events: list[dict[str, Any]]) -> list[bytes]:
    return [orjson.dumps(e) for e in events]


def head(chain: dict[str, Any] = CHAIN, version: str = "4.0", **extra: Any) -> bytes:
    return orjson.dumps({"lctl": version, "chain": chain, **extra})[:-1] + b',"events":['


def opened(events: list[dict[str, Any]], **header: Any) -> bytes:
    """A journal that was never closed."""
    rows = lines(events)
    return head(**header) + (b"\n" + b",\n".join(rows) if rows else b"")


def closed(events: list[dict[str, Any]], tail: dict[str, Any] | None = None, **header: Any) -> bytes:
    """A journal as a session leaves it."""
    rows = lines(events)
    digest = hashlib.sha256(b"".join(row + b"\n" for row in rows)).hexdigest()
    seal = {"algorithm": "sha256", "events": digest, "count": len(rows)}
    tail = {"state": {"facts": {}}, "summary": {}} if tail is None else tail
    closing = orjson.dumps({**tail, "hash": seal})
    return opened(events, **header) + b"\n]," + closing[1:] + b"\n"


def document(events: list[dict[str, Any]], indent: int | None = None, **top: Any) -> bytes:
    """The log as one JSON document, as any JSON writer gives it."""
    return json.dumps({"lctl": "4.0", "chain": CHAIN, **top, "events": events}, indent=indent).encode()


def jsonl(events: list[dict[str, Any]], header: bool = True, compact: bool = True) -> bytes:
    first = [{"lctl": "4.0", "chain": CHAIN}] if header else []
    rows = [orjson.dumps(v) if compact else json.dumps(v).encode() for v in [*first, *events]]
    return b"".join(row + b"\n" for row in rows)
