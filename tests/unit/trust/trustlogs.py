"""Logs of facts, made by hand or recorded with fixed clock and ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from lctl import LCTLSession
from lctl.events import Event
from lctl.testing.clock import FixedClock, SequentialIds
from lctl.trust.ledger import Ledger
from lctl.trust.policy import Policy

Raw = tuple[str, str, dict[str, Any]]


def events(*raw: Raw) -> list[Event]:
    """(type, agent, data) of each, numbered from 1."""
    return [Event(seq=n, type=type, agent=agent, data=data) for n, (type, agent, data) in enumerate(raw, 1)]


def ledger(*raw: Raw, policy: Policy | None = None) -> Ledger:
    return Ledger(policy).take_all(events(*raw))


def added(id: str, confidence: float | None, agent: str = "a", **data: Any) -> Raw:
    given = {} if confidence is None else {"confidence": confidence}
    return "fact_added", agent, {"id": id, "text": f"text of {id}", **given, **data}


def handed(to: str, *facts: str, giver: str = "a") -> Raw:
    return "handoff", giver, {"from": giver, "to": to, "facts": list(facts)}


def read(agent: str, *facts: str, **data: Any) -> Raw:
    return "fact_read", agent, {"facts": list(facts), **data}


def session(path: Path, **given: Any) -> LCTLSession:
    """A session whose log is the same every time."""
    return LCTLSession(
        "trusted", path=path / "log.lctl.json", clock=FixedClock(), ids=SequentialIds(), **given
    )


def reviewed() -> list[dict[str, Any]]:
    """25 events for the protocol's transcripts of `confidence` and `validate`: F1 is verified, F2 handed on
    twice, F3 refuted at event 8."""
    analyzer, reviewer, fixer = "code-analyzer", "security-reviewer", "fix-implementer"
    raw: list[Raw] = [
        ("step_start", analyzer, {"intent": "analyze"}),
        added("F1", 0.85, analyzer, source="static-analysis"),
        added("F2", 0.90, analyzer, source="model"),
        added("F3", 0.70, analyzer, source="model"),
        ("step_end", analyzer, {"outcome": "success"}),
        handed(reviewer, "F1", "F2", giver=analyzer),
        ("step_start", reviewer, {"intent": "assess"}),
        ("fact_modified", reviewer, {"id": "F3", "confidence": 0.3, "reason": "refuted", "severity": "low"}),
        ("tool_call", reviewer, {"tool": "grep", "input": "execute", "output": 3}),
        (
            "fact_modified",
            reviewer,
            {
                "id": "F1",
                "text": "CONFIRMED: SQL injection vulnerability",
                "confidence": 0.95,
                "severity": "critical",
                "reason": "verified_by_consensus",
                "consensus": {"assessors": [analyzer, reviewer], "agreement": 1.0},
            },
        ),
        ("step_end", reviewer, {"outcome": "success"}),
        handed(fixer, "F2", giver=reviewer),
        ("step_start", fixer, {"intent": "fix"}),
        *(("tool_call", fixer, {"tool": "edit", "input": n, "output": "ok"}) for n in range(11)),
        ("step_end", fixer, {"outcome": "success"}),
    ]
    return [{**event.to_dict(), "timestamp": f"2024-01-15T10:30:{event.seq:02d}Z"} for event in events(*raw)]


def written(path: Path, raw: list[dict[str, Any]], **chain: Any) -> Path:
    """The events as a log whose header has `chain`."""
    document = {"lctl": "4.0", "chain": {"id": "security-review-001", **chain}, "events": raw}
    path.write_bytes(orjson.dumps(document))
    return path
