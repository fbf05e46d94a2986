"""Programs with agent sessions run again: the ids that lctl makes up for them are the recorded ones,
and of several recordings of a process each has its own tape to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, record, rerun, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", ["named", "unnamed", "tasks", "replies"])
def test_they_are_exact(how: str, tmp_path: Path) -> None:
    with ModelServer() as server:
        server.reply(lambda request: f"So you say: {request.last_text}", times=None)
        first = record("durable_sessions.py", tmp_path, {**server.environ, "HOW": how})
    assert first.code == 0, first.err
    assert "So you say" in first.out
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert again.out == first.out, again.err


def test_sessions_one_after_the_other_are_served_to_the_last(tmp_path: Path) -> None:
    with ModelServer() as server:
        server.reply(lambda request: f"So you say: {request.last_text}", times=None)
        command = [*LCTL, "run", str(PROGRAMS / "sittings.py")]
        first = run(command, tmp_path, server.environ, tmp_path)
    assert first.out == "".join(f"So you say: Job {number}\n" for number in range(3)), first.err
    logs = sorted((tmp_path / "logs").glob("*.lctl.json"), key=lambda path: path.stat().st_mtime_ns)
    assert len(logs) == 3
    again = rerun(logs[0], tmp_path)
    assert again.code == 0, again.err
    assert again.out == first.out
    assert again.err.count("rerun exact") == 3
