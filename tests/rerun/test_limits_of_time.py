"""Limits of time in a rerun, whose answers come at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rerun.harness import record, rerun

pytestmark = pytest.mark.slow


def test_one_that_begins_behind_a_long_computation_does_not_end_with_it(tmp_path: Path) -> None:
    first = record("computes_first.py", tmp_path, {})
    assert (first.code, first.out) == (0, "[1, 2] 3\n"), first.err
    again = rerun(first.log, tmp_path)
    assert (again.code, again.out) == (0, first.out), again.err
