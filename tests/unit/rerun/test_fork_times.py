"""The log of a fork has one clock: what comes behind the fork point has the fork's own times."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.unit.rerun.commands import Run

PROGRAM = """
import threading, time
from concurrent.futures import ThreadPoolExecutor
import lctl

@lctl.tool
def look(number):
    time.sleep(0.02)
    return number

first = threading.Thread(target=look, args=(0,))
first.start()
first.join()
time.sleep(0.8)
with ThreadPoolExecutor(2) as pool:
    print(sum(pool.map(look, (1, 2, 3, 4))))
"""


@pytest.mark.slow
@pytest.mark.interpreter
def test_ends_of_pool_jobs_that_stay_on_the_tape(lctl: Run, tmp_path: Path) -> None:
    """They are written with the log's last event; a fork does not wait as the recording did."""
    (tmp_path / "agent.py").write_text(PROGRAM)
    assert lctl("run", "-o", "run.lctl.json", "agent.py").returncode == 0
    at = next(e.seq for e in open_log(tmp_path / "run.lctl.json").events() if e.type == "tool_call")
    forked = lctl("fork", "run.lctl.json", "--at", str(at), "--result", "tool:look=5", "-o", "fork.lctl.json")
    assert forked.returncode == 0, forked.stderr
    kept = set(_ends(tmp_path / "fork.lctl.json")) & set(_ends(tmp_path / "run.lctl.json"))
    assert len(kept) < 2  # one may be the same microsecond, by chance
    again = lctl("rerun", "fork.lctl.json")
    assert "rerun exact" in again.stderr, again.stderr


def _ends(log: Path) -> list[float]:
    jobs = next(e.data for e in open_log(log).events() if e.data.get("source") == "jobs")
    return [at for _, at, _ in jobs["value"]["ended"]]
