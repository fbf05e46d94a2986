"""The transcripts of the protocol's part 8, printed as they stand there."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.golden import logs
from tests.unit.cli.conftest import Cli

STREAM = """\
lctl: "4.0"
chain:
  id: "security-review-001"

events:
  - seq: 1
    type: step_start
    timestamp: "2024-01-15T10:30:00Z"
    agent: "code-analyzer"
    data:
      intent: "analyze"
      input_summary: "UserController.py - 200 lines"

  - seq: 2
    type: fact_added
    timestamp: "2024-01-15T10:30:15Z"
    agent: "code-analyzer"
    data:
      id: "F1"
      text: "SQL query constructed from user input at line 45"
      confidence: 0.85
      source: "static-analysis"

  - seq: 3
    type: tool_call
    timestamp: "2024-01-15T10:30:16Z"
    agent: "code-analyzer"
    data:
      tool: "grep"
      input: {pattern: "execute.*user", file: "UserController.py"}
      output: {matches: 3, lines: [45, 67, 89]}
      duration_ms: 50

  - seq: 4
    type: step_end
    timestamp: "2024-01-15T10:30:30Z"
    agent: "code-analyzer"
    data:
      outcome: "success"
      output_summary: "Found 1 potential SQL injection"
      duration_ms: 30000
      tokens: {input: 500, output: 200}

  - seq: 5
    type: checkpoint
    timestamp: "2024-01-15T10:30:31Z"
    agent: "system"
    data:
      state_hash: "abc123"
      facts_snapshot:
        F1: {text: "SQL query constructed...", confidence: 0.85}

  - seq: 6
    type: step_start
    timestamp: "2024-01-15T10:30:32Z"
    agent: "security-reviewer"
    data:
      intent: "assess"
      input_summary: "Review F1 for exploitability"
"""


@pytest.fixture
def review(place: Path) -> Path:
    return logs.written(place / "chain.lctl.json", logs.security_review())


def test_replay(review: Path, lctl: Cli) -> None:
    """`lctl replay chain.lctl.json`."""
    lines = lctl("replay", "chain.lctl.json").out.splitlines()
    assert lines[:3] == [
        "Replaying 25 events...",
        "[1] code-analyzer: step_start (analyze)",
        "[2] code-analyzer: fact_added F1 (confidence: 0.85)",
    ]
    assert lines[-1] == "Replay complete. Final state has 5 facts."
    assert len(lines) == 27


def test_replay_to_a_point(review: Path, lctl: Cli) -> None:
    """`lctl replay --to-seq 10 chain.lctl.json`."""
    assert lctl("replay", "--to-seq", "10", "chain.lctl.json").out == (
        "Replaying to event 10...\nState at seq 10: 2 facts, agent=code-analyzer\n"
    )


def test_diff(place: Path, lctl: Cli) -> None:
    """`lctl diff chain-v1.lctl.json chain-v2.lctl.json`."""
    first, second = logs.versions()
    logs.written(place / "chain-v1.lctl.json", first, "v1")
    logs.written(place / "chain-v2.lctl.json", second, "v2")
    got = lctl("diff", "chain-v1.lctl.json", "chain-v2.lctl.json")
    assert got.code == 1
    assert got.out == (
        "Events diverged at seq 8:\n"
        "  v1: fact_added F3 (confidence: 0.70)\n"
        "  v2: fact_added F3 (confidence: 0.85) [DIFFERENT]\n"
    )


def test_stats(review: Path, lctl: Cli) -> None:
    """`lctl stats chain.lctl.json`."""
    assert lctl("stats", "chain.lctl.json").out == (
        "Chain: security-review-001\n"
        "Duration: 45.2s\n"
        "Tokens: 2,340 (in: 1,500 / out: 840)\n"
        "Cost: $0.047\n"
        "Agents: 3\n"
        "Errors: 0\n"
        "Avg confidence: 0.87\n"
    )


def test_bottleneck(review: Path, lctl: Cli) -> None:
    """`lctl bottleneck chain.lctl.json`."""
    assert lctl("bottleneck", "chain.lctl.json").out.startswith(
        "Slowest steps:\n"
        "1. security-reviewer (step 6): 22.5s (50%)\n"
        "2. code-analyzer (step 1): 15.0s (33%)\n"
        "3. fix-implementer (step 11): 7.7s (17%)\n"
        "\n"
        "Recommendation: security-reviewer is bottleneck. Consider parallelization.\n"
    )


def test_the_event_stream_of_part_2(place: Path, lctl: Cli) -> None:
    """The YAML as printed there goes through every command."""
    (place / "stream.yaml").write_text(STREAM)
    replayed = lctl("replay", "stream.yaml").out
    assert "[4] code-analyzer: step_end (success, 30.0s, 700 tokens)" in replayed
    assert replayed.endswith("Final state has 1 fact.\n")
    assert "0.85  F1  SQL query constructed" in lctl("show", "stream.yaml").out
    for command in ("stats", "bottleneck", "tail", "verify", "validate", "export --format report"):
        got = lctl(*command.split(), "stream.yaml")
        assert (got.code, got.err) == (0, ""), command


def test_converting_version_3(place: Path, lctl: Cli) -> None:
    """`lctl convert --from v3 --to v4 old-trace.lctl.json > new-events.lctl.json`."""
    old = {
        "lctl": "3.0",
        "chain": {"id": "old"},
        "facts": {"F1": {"text": "a fact", "confidence": 0.9}},
        "trace": [{"step": 1, "agent": "analyzer", "action": "analyze", "timestamp": "2023-01-01T00:00:00Z"}],
    }
    (place / "old-trace.lctl.json").write_bytes(orjson.dumps(old))
    got = lctl("convert", "--from", "v3", "--to", "v4", "old-trace.lctl.json")
    assert got.code == 0
    new = orjson.loads(got.out)
    assert new["lctl"] == "4.0"
    assert [event["type"] for event in new["events"]].count("fact_added") == 1
    (place / "new-events.lctl.json").write_text(got.out)
    assert lctl("verify", "new-events.lctl.json").code == 0
    assert "a fact" in lctl("show", "new-events.lctl.json").out


@pytest.mark.parametrize("to", ["yaml", "jsonl", "json"])
def test_forms_round_trip(review: Path, lctl: Cli, to: str) -> None:
    """Converting there and back gives the same events, and a file only when it is whole."""
    name = f"other.{to}"
    assert lctl("convert", "--to", to, "-o", name, "chain.lctl.json").out == ""
    assert lctl("convert", "-o", "back.lctl.json", name).code == 0
    assert lctl("replay", "--json", "back.lctl.json").out == lctl("replay", "--json", "chain.lctl.json").out
    assert lctl("diff", "back.lctl.json", "chain.lctl.json").code == 0
