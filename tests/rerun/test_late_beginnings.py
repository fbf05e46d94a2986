"""Programs that call `auto_instrument()`, or open a session, when they have been at work for a while."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, rerun, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", ["model", "full", "session"])
def test_what_came_before_the_recording_is_no_part_of_it(how: str, tmp_path: Path) -> None:
    """Neither of its lanes, nor of its calls: tasks, threads and tools of before run as they did, and those
    of the recording have the numbers that they had."""
    first = run([sys.executable, str(PROGRAMS / "begins_late.py"), how], tmp_path, {}, tmp_path)
    assert first.code == 0, first.err
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    first = first._replace(log=log)
    calls = [event["data"]["lane"] for event in first.events if event["type"] == "tool_call"]
    assert sorted(calls) == ["0.1", "0.2", "0.3"]
    again = rerun(log, tmp_path)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)
    folder = tmp_path / "twice"
    folder.mkdir()
    twice = rerun(again.log, folder)  # what a rerun recorded says of its beginning what the first does
    assert twice.code == 0, twice.err
    assert twice.out == first.out


def test_a_fork_of_it_runs_again(tmp_path: Path) -> None:
    first = run([sys.executable, str(PROGRAMS / "begins_late.py"), "model"], tmp_path, {}, tmp_path)
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    forked = tmp_path / "fork.lctl.json"
    made = run([*LCTL, "fork", str(log), "--at", "1", "--output", str(forked)], tmp_path, {}, forked)
    assert made.code == 0, made.err
    assert made.out == first.out
    again = rerun(forked, tmp_path)
    assert again.code == 0, again.err
    assert again.out == made.out


CONDITION = """
import asyncio, os, lctl

@lctl.tool
async def add(a, b):
    return a + b

async def main():
    if os.environ.get("RECORDED"):
        lctl.auto_instrument()
    print(await add(1, 2))

asyncio.run(main())
"""


def test_a_rerun_in_which_the_program_does_not_begin_says_so(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(CONDITION)
    first = run([sys.executable, str(program)], tmp_path, {"RECORDED": "1"}, tmp_path)
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    again = rerun(log, tmp_path)
    assert again.code == 1
    assert "the program did not begin its recording this time" in again.err
    assert rerun(log, tmp_path, environ={"RECORDED": "1"}).out == first.out
