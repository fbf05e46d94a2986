"""Versions 3.0 to 4.x are read; 3.0 is made into events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lctl.codec import Log, open_log
from tests.unit.codec.samples import closed, document, event

V3 = b"""
lctl: "3.0"
purpose: observability
chain:
  id: review-1
  step: 3
  source: reviewer
  target: fixer
trace:
  - step: 1
    agent: analyzer
    action: Found a query built from input
    confidence: 0.85
    facts_added: [F1, F2]
    duration_ms: 2340
  - step: 2
    agent: reviewer
    action: Confirmed it
    confidence: 0.92
    facts_added: [F3]
    facts_modified: [F1]
    parallel: true
  - step: 3
    agent: deployer
    action: "FAILED: no cluster"
    error: "ConnectionRefused: api-server"
facts:
  F1: {text: "CONFIRMED: injection", confidence: 0.95, source: reviewer, step: 2}
  F2: {text: "No validation", confidence: 0.9, source: analyzer, step: 1}
  F4: {text: "Cluster is down", confidence: 0.7, source: deployer}
  F5: {text: "From nowhere", confidence: 0.5, note: kept}
handoff:
  critical_facts: [F1]
  warnings: ["test before deploy"]
instruction: Fix it.
analysis: {root_cause: unknown}
"""


def told(log: Log) -> list[tuple[Any, ...]]:
    return [(e.seq, e.type, e.agent, e.step, e.data) for e in log.events()]


def test_a_3_0_log_becomes_events() -> None:
    """Each trace entry is a step; facts are added in the step that says so; the handoff is an event."""
    log = open_log(V3)
    assert told(log) == [
        (
            1,
            "step_start",
            "analyzer",
            None,
            {"intent": "Found a query built from input", "trace_step": 1},
        ),
        (2, "fact_added", "analyzer", 1, {"id": "F1", "text": "CONFIRMED: injection"}),
        (
            3,
            "fact_added",
            "analyzer",
            1,
            {"id": "F2", "text": "No validation", "confidence": 0.9, "source": "analyzer", "step": 1},
        ),
        (4, "step_end", "analyzer", 1, {"outcome": "success", "confidence": 0.85, "duration_ms": 2340}),
        (
            5,
            "step_start",
            "reviewer",
            None,
            {"intent": "Confirmed it", "trace_step": 2, "parallel": True},
        ),
        (6, "fact_added", "reviewer", 5, {"id": "F3"}),
        (
            7,
            "fact_modified",
            "reviewer",
            5,
            {
                "id": "F1",
                "text": "CONFIRMED: injection",
                "confidence": 0.95,
                "source": "reviewer",
                "step": 2,
                "reason": "Confirmed it",
            },
        ),
        (8, "step_end", "reviewer", 5, {"outcome": "success", "confidence": 0.92}),
        (9, "step_start", "deployer", None, {"intent": "FAILED: no cluster", "trace_step": 3}),
        (
            10,
            "fact_added",
            "deployer",
            9,
            {"id": "F4", "text": "Cluster is down", "confidence": 0.7, "source": "deployer"},
        ),
        (
            11,
            "error",
            "deployer",
            9,
            {
                "category": "execution_error",
                "type": "unknown",
                "recoverable": False,
                "message": "ConnectionRefused: api-server",
            },
        ),
        (12, "step_end", "deployer", 9, {"outcome": "error"}),
        (13, "fact_added", "", None, {"id": "F5", "text": "From nowhere", "confidence": 0.5, "note": "kept"}),
        (
            14,
            "handoff",
            "reviewer",
            None,
            {
                "from": "reviewer",
                "to": "fixer",
                "critical_facts": ["F1"],
                "warnings": ["test before deploy"],
                "instruction": "Fix it.",
            },
        ),
    ]
    assert log.version == "3.0"
    assert log.chain == {"id": "review-1", "step": 3, "source": "reviewer", "target": "fixer"}
    assert log.extra == {"purpose": "observability", "analysis": {"root_cause": "unknown"}}
    assert log.problems == []


def test_a_short_3_0_log() -> None:
    """The abbreviated form has no trace, and `from` and `to` in its chain."""
    log = open_log(
        b'lctl: "3.0"\nchain: {id: auth-1, from: analyzer, to: fixer}\n'
        b'facts:\n  F1: {text: "SQL injection", confidence: 0.95}\ninstruction: Fix it\n'
    )
    assert [(e.type, e.agent, e.data) for e in log.events()] == [
        ("fact_added", "", {"id": "F1", "text": "SQL injection", "confidence": 0.95}),
        ("handoff", "analyzer", {"from": "analyzer", "to": "fixer", "instruction": "Fix it"}),
    ]


def test_a_fact_changed_twice_has_its_last_value_once() -> None:
    """What it was between is not in a 3.0 log, and is not made up."""
    doc = {
        "lctl": "3.0",
        "chain": {"id": "x"},
        "trace": [
            {"agent": "a", "facts_added": ["F1"]},
            {"agent": "b", "facts_modified": ["F1"]},
            {"agent": "c", "facts_modified": ["F1"]},
        ],
        "facts": {"F1": {"text": "now", "confidence": 0.9}},
    }
    facts = [e.data for e in open_log(json.dumps(doc).encode()).events() if e.type.startswith("fact")]
    assert facts == [
        {"id": "F1", "text": "now"},
        {"id": "F1"},
        {"id": "F1", "text": "now", "confidence": 0.9},
    ]


def test_a_3_0_log_of_the_wrong_shape_says_so() -> None:
    """What cannot be read is named, the rest is read."""
    doc = {
        "lctl": 3.0,
        "chain": {"id": "x"},
        "trace": [5, {"agent": "a", "action": "did"}],
        "facts": "none",
        "handoff": [],
    }
    log = open_log(json.dumps(doc).encode())
    assert [e.type for e in log.events()] == ["step_start", "step_end"]
    assert [str(p) for p in log.problems] == [
        "trace[0]: expected an object; left out",
        "facts: expected an object; left out",
        "handoff: expected an object; left out",
    ]


@pytest.mark.parametrize(
    ("lctl", "version"),
    [("3.0", "3.0"), ("4.0", "4.0"), ("4.1", "4.1"), ("4.17", "4.17"), (4, "4.0"), (4.1, "4.1")],
)
def test_events_of_any_of_these_versions_are_read_as_they_are(lctl: object, version: str) -> None:
    """A newer 4.x keeps its unknown types and keys; a 3.0 log that has events is taken at its word."""
    odd = {**event(1), "type": "llm_trace", "new": True}
    log = open_log(document([odd], lctl=lctl))
    assert log.version == version
    assert log.event(1).to_dict() == odd
    if isinstance(lctl, str):
        assert open_log(closed([odd], version=lctl)).version == version


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"in": 500, "out": 200}, {"input": 500, "output": 200}),
        ({"input": 5, "in": 500, "out": 2, "total": 7}, {"input": 5, "output": 2, "total": 7}),
        (700, 700),
    ],
)
def test_the_tokens_of_a_3_0_log_are_input_and_output(said: Any, read: Any) -> None:
    """Under the names a fold counts; what is no pair of counts stays as it is."""
    raw = {"lctl": "3.0", "chain": {"id": "x"}, "trace": [{"step": 1, "agent": "a", "tokens": said}]}
    log = open_log(json.dumps(raw).encode())
    assert [e.data["tokens"] for e in log.events() if e.type == "step_end"] == [read]
