"""Agno's hooks and guardrails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.clients import Told, play

pytestmark = pytest.mark.frameworks


def test_hooks_run_again_in_their_order_and_refusals_say_why(tmp_path: Path) -> None:
    pytest.importorskip("agno", reason="agno is not installed")
    played = play("agno_hooks.py", tmp_path)
    played.check()
    told = Told(played.first.events)
    ends = [(step["outcome"], step.get("output")) for step in told.steps("agent")]
    assert ends[:3] == [("success", None)] * 3
    assert ends[3:] == [("error", "Answer to Hello (0)"), ("error", "not in here"), ("error", "not in here")]
    [printed] = told.steps("node")
    assert (printed["outcome"], printed["output"]) == ("error", "no paper")
