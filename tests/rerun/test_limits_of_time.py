"""Limits of time in a rerun, whose answers come at once."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import pytest

from lctl.testing import ModelServer
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


def test_one_that_the_system_keeps_runs_out_where_it_did(tmp_path: Path) -> None:
    """`signal.alarm` and `setitimer`, beside sleeps that take no time in a rerun."""
    with ModelServer(random_answers=True) as models:
        first = record("limits_by_signals.py", tmp_path, models.environ)
    assert first.code == 0, first.err
    assert "computed" in first.out
    for _ in range(2):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.events == first.events


def test_what_it_calls_again_and_again_comes_as_often(tmp_path: Path) -> None:
    """A handler that computes is not done when the next beat is due: the system makes one signal of two."""
    with ModelServer(random_answers=True) as models:
        first = record("beats_by_signals.py", tmp_path, models.environ)
    assert first.code == 0, first.err
    assert first.out.splitlines()[-1].endswith(" []")
    for _ in range(2):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.events == first.events


def test_one_that_the_system_keeps_runs_out_in_what_is_live(tmp_path: Path) -> None:
    with ModelServer(random_answers=True) as models:
        first = record("limits_by_signals.py", tmp_path, models.environ)
        (ended, *_) = (e["seq"] for e in first.events if e["type"] == "exchange")
        log = tmp_path / "fork.lctl.json"
        words = [*LCTL, "fork", str(first.log), "--at", str(ended), "--output", str(log)]
        fork = run(words, tmp_path, models.environ, log)
    assert fork.code == 0, fork.err
    assert "computed" in fork.out
    assert fork.out.splitlines()[0] == first.out.splitlines()[0]


def test_one_on_a_worker_that_asks_a_live_model_does_not_run_out(tmp_path: Path) -> None:
    """Between two answers the worker waits for the interpreter's lock now and then, as if at rest."""
    with ModelServer() as models:
        first = record("limit_on_a_worker.py", tmp_path, models.environ)
        (ended, *_) = (e["seq"] for e in first.events if e["type"] == "exchange")
        log = tmp_path / "fork.lctl.json"
        words = [*LCTL, "fork", str(first.log), "--at", str(ended), "--output", str(log)]
        fork = run([*words, "--set", "model=gpt-4.1-mini"], tmp_path, models.environ, log)
        assert len(models.requests) == 121 + 120
    assert (fork.code, fork.out) == (0, first.out), fork.err


def test_one_that_was_over_as_it_was_set_is(tmp_path: Path) -> None:
    pytest.importorskip("anyio")
    with ModelServer(random_answers=True) as models:
        first = record("limits_over_at_once.py", tmp_path, models.environ)
    assert first.code == 0, first.err
    assert [line.split()[0] for line in first.out.splitlines()] == [*["late"] * 2, *["['late',"] * 5]
    assert {e["data"]["key"] for e in first.events if e["data"].get("source") == "overdue"} == {
        "asyncio.timeout",
        "anyio.CancelScope",
    }
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.events == first.events


def test_an_answer_that_comes_with_its_end_is_taken(tmp_path: Path) -> None:
    """By anyio's scopes, which cancel nobody whose answer is on its way through the loop."""
    pytest.importorskip("anyio")
    with ModelServer(random_answers=True, latency=(0.03, 0.04)) as models:
        for _ in range(5):  # a busy machine may bring all answers too late
            first = record("answered_in_time.py", tmp_path, models.environ)
            assert first.code == 0, first.err
            if " True " in first.out:
                break
    assert " True " in first.out
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err
        assert again.events == first.events
