"""Limits of time in a rerun, whose answers come at once."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, record, rerun, run

pytestmark = pytest.mark.slow


def test_one_that_begins_behind_a_long_computation_does_not_end_with_it(tmp_path: Path) -> None:
    first = record("computes_first.py", tmp_path, {})
    assert (first.code, first.out) == (0, "[1, 2] 3\n"), first.err
    again = rerun(first.log, tmp_path)
    assert (again.code, again.out) == (0, first.out), again.err


def test_one_that_did_not_run_out_does_not_behind_a_wait_that_is_not_recorded(tmp_path: Path) -> None:
    """The clock of a rerun knows of such a wait only when the next recorded thing comes."""
    busy = tmp_path / "busy"
    log = tmp_path / "first.lctl.json"
    program = str(PROGRAMS / "limit_behind_a_wait.py")
    with busy.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        threading.Timer(3.0, fcntl.flock, (held, fcntl.LOCK_UN)).start()
        first = run([*LCTL, "run", "--output", str(log), program, str(busy)], tmp_path, {}, log)
    assert (first.code, first.out) == (0, "0\n[1, 2] 3\n"), first.err
    again = rerun(log, tmp_path)
    assert (again.code, again.out) == (0, first.out), again.err
