"""Queues between processes: in a rerun each takes what it took when it was recorded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, Result, rerun, run

pytestmark = pytest.mark.slow

_PARTS = (
    "ended",
    "objects",
    "bounded",
    "simple",
    "managed",
    "awaited",
    "killed",
    "idle",
    "patient",
    "collected",
)


def _record(folder: Path, program: str, *words: str) -> tuple[Result, int]:
    log = folder / "run.lctl.json"
    command = [*LCTL, "run", "--output", str(log), str(PROGRAMS / program), *words]
    with ModelServer(random_answers=True) as server:
        first = run(command, folder, server.environ, log)
    assert first.code == 0, first.err
    return first, len(server.requests)


def _calls(folder: Path) -> list[list[str]]:
    """Of each log in that folder: the tasks that its process asked a model about, in order."""
    logs = [open_log(path) for path in folder.rglob("*.lctl.json")]
    said = [
        [e.data["content"] for e in log.events() if e.type == "message" and e.data["role"] == "user"]
        for log in logs
    ]
    return sorted(tasks for tasks in said if tasks)


@pytest.mark.parametrize(
    ("method", "part"),
    [*(("fork", part) for part in _PARTS), ("spawn", "ended"), ("spawn", "idle"), ("forkserver", "ended")],
)
def test_items_are_with_the_process_that_took_them(method: str, part: str, tmp_path: Path) -> None:
    """How many there are, and whether it was killed, or waited in vain, makes no difference."""
    first, asked = _record(tmp_path, "process_queues.py", method, part)
    calls = _calls(tmp_path)
    assert sum(map(len, calls)) == asked
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert again.out == first.out
    assert again.events == first.events
    assert "rerun not exact" not in again.err
    assert sorted([*calls, *calls]) == _calls(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell what threads wait for")
def test_who_waits_for_a_process_that_has_stopped_is_told_where(tmp_path: Path) -> None:
    first, _ = _record(tmp_path, "process_that_stops.py")
    again = rerun(first.log, tmp_path)
    assert again.code == 1
    assert "this call is not the recorded one" in again.err
    assert "nothing can happen any more" in again.err
    assert "process_that_stops.py:19: print(results.get())" in again.err
