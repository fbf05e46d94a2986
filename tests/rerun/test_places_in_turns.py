"""Where in a turn of its loop a result came: which tasks had gone on before, and which did after."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import RERUNS, record, rerun

pytestmark = pytest.mark.slow


def test_a_tool_that_ends_before_other_tasks_go_on_does_so_again(tmp_path: Path) -> None:
    first = record("ends_before_others.py", tmp_path, {})
    assert first.code == 0, first.err
    assert "b2 got 3 a3" in first.out
    assert "a6 got 6 b6" in first.out
    assert "b8 got 8 a9" in first.out
    behind = [event["data"].get("behind") for event in first.events if event["type"] == "tool_call"]
    assert behind == [2, 1, None]
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert again.out == first.out


@pytest.mark.parametrize("seed", range(min(RERUNS, 3)))
def test_jobs_that_end_while_their_loop_is_busy_do_so_again(seed: int, tmp_path: Path) -> None:
    """In the first turns of the loop, too; with jobs that are handed in and over in one turn; with tasks that
    go on between two results of one turn; and with many under way at once."""
    first = record("jobs_between_turns.py", tmp_path, {"SEED": str(seed)})
    assert first.code == 0, first.err
    turns = [event["data"] for event in first.events if event["data"].get("source") == "wake"]
    assert len({wake["turn"] for wake in turns}) > 3
    assert any("behind" in wake for wake in turns)
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)
