"""Logs that somebody changed, run again: the event that cannot be served is named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.unit.cli.conftest import Cli

START = {"kind": "llm", "intent": "chat.completions", "provider": "openai", "model": "m"}
SENT = {"method": "POST", "url": "http://model/v1/chat/completions", "http": "httpx", "attempt": 1}

CHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "a chunk without its text": ("exchange", {**SENT, "status": 200, "chunks": [[]]}),
    "ends that are cut": ("ambient", {"source": "jobs", "value": {"ended": [["0"]]}}),
    "pauses that are no pairs": ("ambient", {"source": "resumed", "value": [1]}),
}


def log(place: Path, kind: str, data: dict[str, Any], provider: Any = "openai") -> str:
    (place / "agent.py").write_text("print('ran')\n")
    program = {
        "argv": [sys.executable, "agent.py"],
        "cwd": str(place),
        "python": sys.executable,
        "env": {},
        "keys": ["A"],
    }
    events: list[dict[str, Any]] = [
        {"type": "step_start", "data": {**START, "provider": provider}},
        {"type": kind, "step": 1, "data": {"lane": "0", **data}},
        {"type": "step_end", "step": 1, "data": {"outcome": "success"}},
    ]
    numbered = [
        {"seq": n, "timestamp": "2026-01-01T00:00:00Z", "agent": "a", **event}
        for n, event in enumerate(events, 1)
    ]
    (place / "bad.lctl.json").write_bytes(
        orjson.dumps({"lctl": "4.0", "chain": {"id": "c", "program": program}, "events": numbered})
    )
    return "bad.lctl.json"


@pytest.mark.parametrize("kind", CHANGED)
@pytest.mark.parametrize("command", ["rerun {}", "fork {} --at 3"])
def test_an_event_that_no_recorder_wrote(command: str, kind: str, place: Path, lctl: Cli) -> None:
    """One line: the file, the event, what is wrong in it; the program is not started."""
    got = lctl(*command.format(log(place, *CHANGED[kind])).split())
    assert (got.code, got.out) == (3, ""), got
    assert got.err.count("\n") == 1
    assert got.err.startswith("lctl: bad.lctl.json: event 2 ")


def test_a_provider_that_is_no_name(place: Path, lctl: Cli) -> None:
    """Nothing can be said of its key, and the fork goes on."""
    path = log(place, "exchange", {**SENT, "status": 200, "body": "{}"}, provider=["openai"])
    got = lctl("fork", path, "--at", "3")
    assert got.code in (0, 1), got
    assert "forked at event 3" in got.err
