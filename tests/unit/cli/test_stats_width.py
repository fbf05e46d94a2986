"""`lctl stats` on terminals of many widths: each row of its tables is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.terminal import Terminal

_AGENTS = ("code-analyzer", "security-reviewer-of-the-second-shift")


def _log(path: Path) -> None:
    """Two agents with model calls of which one attempt failed and was retried."""
    events: list[dict[str, object]] = []

    def add(type: str, agent: str, step: int | None = None, /, **data: object) -> int:
        seq = len(events) + 1
        told = {"seq": seq, "type": type, "timestamp": f"2026-01-15T10:30:{seq:02d}Z", "agent": agent}
        events.append({**told, **({} if step is None else {"step": step}), "data": data})
        return seq

    for agent in _AGENTS:
        call = add("step_start", agent, kind="llm", model="claude-sonnet-4-6", intent="review")
        for status, attempt in ((429, 1), (200, 2)):
            add("exchange", agent, call, method="POST", url="http://x/", status=status, attempt=attempt)
        add("error", agent, call, category="execution_error", type="rate_limited", recoverable=True)
        tokens = {"input": 1_234_567, "output": 23_456, "total": 1_258_023}
        add("step_end", agent, call, outcome="success", duration_ms=3210, tokens=tokens)
    path.write_text(json.dumps({"lctl": "4.0", "chain": {"id": "c"}, "events": events}))


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_no_row_is_wider_than_the_terminal(tmp_path: Path, columns: int) -> None:
    """What is least missed is left out, and long names are cut; what went wrong is always said."""
    _log(tmp_path / "run.lctl.json")
    with Terminal(["stats", "run.lctl.json"], tmp_path, columns, environment={"NO_COLOR": "1"}) as terminal:
        assert terminal.wait() == 0
        lines = terminal.raw.replace("\r", "").split("\n")
    assert max(map(len, lines)) <= columns, lines
    (head,) = (line for line in lines if line.startswith("AGENT"))
    assert ("P50" in head) == (columns == 140) and "COST" in head
    assert sum("1 error" in line for line in lines) >= 2
