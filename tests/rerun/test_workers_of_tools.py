"""Threads that libraries keep for whoever needs one, started in a tool's body."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import record, rerun


@pytest.mark.slow
def test_what_a_tools_worker_does_for_others_is_noted(tmp_path: Path) -> None:
    with ModelServer(seed=1) as server:
        first = record("worker_from_a_tool.py", tmp_path, server.environ)
    assert first.code == 0, first.err
    wakes = [event["data"]["lane"] for event in first.events if event["data"].get("source") == "wake"]
    assert len(wakes) == 1  # of the job outside the body
    again = rerun(first.log, tmp_path)
    assert again.out == first.out
    assert again.code == 0, again.err
    assert again.events == first.events
