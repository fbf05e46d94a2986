"""What children do in their own time, run again: their virtual time is not their parent's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.rerun.harness import record, rerun

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]


def test_sleeps_signals_and_wakes_of_a_forked_one_are_those_recorded(tmp_path: Path) -> None:
    first = record("forked_sleepers.py", tmp_path, {})
    assert first.code == 0, first.err
    beats, woken, *worked = first.out.splitlines()  # how often and in which order hangs on the machine
    assert int(beats) > 0
    assert sorted(woken) == sorted("[1, 2, 3]")
    assert len(worked) == 9
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.err.count("rerun exact") == 2, again.err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others do not say what a process does")
def test_those_that_are_ended_by_a_signal_have_come_as_far_as_they_had(tmp_path: Path) -> None:
    """What their parent waited for until then takes no time in a rerun."""
    first = record("ends_children.py", tmp_path, {})
    assert first.code == 0, first.err
    ends = [line for line in first.out.splitlines() if line.lstrip("-").isdigit()]
    assert ends == ["-15", "3", "-9"]
    assert first.out.count("works 0") == 2
    assert "told to end\n" in first.out
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert "not exact" not in again.err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others do not say what a process does")
def test_those_whose_handlers_only_note_a_signal_go_on_as_far_as_they_had(tmp_path: Path) -> None:
    first = record("tells_children.py", tmp_path, {})
    assert first.code == 0, first.err
    ends = [line for line in first.out.splitlines() if line.isdigit()]
    assert ends == ["0", "0", "4"]
    assert [first.out.count(text) for text in ("has worked", "asked", "stopped", "has served")] == [
        1,
        1,
        1,
        1,
    ]
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert "not exact" not in again.err
