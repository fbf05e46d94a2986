"""What a forked child does in its own time, run again: its virtual time is not its parent's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import record, rerun

pytestmark = pytest.mark.slow


def test_its_sleeps_signals_and_wakes_are_those_recorded(tmp_path: Path) -> None:
    first = record("forked_sleepers.py", tmp_path, {})
    assert (first.code, first.out) == (0, "3\n[1, 2, 3]\n"), first.err
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.err.count("rerun exact") == 2, again.err
