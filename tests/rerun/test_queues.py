"""Threads that race at a queue, a semaphore or an event of the program's own: who was first is so again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, Result, record, rerun, run

pytestmark = pytest.mark.slow

PROGRAM = "queue_workers.py"
PROGRAMS_OF_THREADS = (PROGRAM, "pool_and_simple_queue.py", "semaphore_workers.py")


def queues_of(result: Result) -> list[list[list[Any]]]:
    """Of each queue in the log: what was done with it."""
    (told,) = (event["data"]["value"] for event in result.events if event["data"].get("source") == "jobs")
    return [acts for _, _, acts in told["queues"]]


@pytest.mark.parametrize(("recorded", "now"), [("0,.15", ".15,0"), (".15,0", "0,.15"), (".1,0", "0,0")])
@pytest.mark.parametrize("one_line", [False, True])
@pytest.mark.parametrize("program", PROGRAMS_OF_THREADS)
def test_the_same_are_first_at_a_queue(
    recorded: str, now: str, one_line: bool, program: str, tmp_path: Path
) -> None:
    with ModelServer(seed=1) as server:
        environ = {**server.environ, "WAIT": recorded}
        if one_line:
            environ["AUTO"] = "1"
            first = run([sys.executable, str(PROGRAMS / program)], tmp_path, environ, tmp_path)
            (log,) = (tmp_path / "logs").glob("*.lctl.json")
            first = first._replace(log=log)
        else:
            first = record(program, tmp_path, environ)
    assert first.code == 0, first.err
    if program == PROGRAM:
        assert ("'something'" in first.out) == (recorded[0] == "0")
    # Whose log has what the environment says hears of no other.
    again = rerun(first.log, tmp_path, environ={"WAIT": now, "AUTO": "1"} if one_line else None)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)


def test_what_is_noted_of_a_queue(tmp_path: Path) -> None:
    with ModelServer(seed=1) as server:
        first = record(PROGRAM, tmp_path, {**server.environ, "WAIT": "0,.15"})
    taken, *_ = queues_of(first)
    assert [what for _, what, _, _ in taken].count("get") == 5
    assert [what for _, what, _, _ in taken[:3]] == ["put"] * 3
    assert {lane for lane, *_ in taken} == {"0", "0.1", "0.2"}
    last = len(first.events)
    assert all(0 <= seq < last for *_, seq in taken)


def test_a_fork_holds_to_it_up_to_its_point_alone(tmp_path: Path) -> None:
    with ModelServer(seed=1) as server:
        first = record(PROGRAM, tmp_path, {**server.environ, "WAIT": "0,.15"})
        at = [event["seq"] for event in first.events if event["type"] == "exchange"][2]
        log = tmp_path / "fork.lctl.json"
        fork = [*LCTL, "fork", str(first.log), "--at", str(at), "--output", str(log)]
        forked = run(fork, tmp_path, server.environ, log)
        assert forked.code == 0, forked.err
        assert forked.events[:at] == first.events[:at]
        again = rerun(log, tmp_path)
    assert again.code == 0, again.err
    assert again.out == forked.out


def test_a_thread_beats_as_often_again(tmp_path: Path) -> None:
    """It waits for an event with a timeout; another asks whether that is set."""
    with ModelServer(random_answers=True, latency=(0.01, 0.08)) as models:
        first = record("heartbeats.py", tmp_path, models.environ)
    assert first.code == 0, first.err
    assert any("unset" in (what for _, what, *_ in acts) for acts in queues_of(first))
    for _ in range(3):
        again = rerun(first.log, tmp_path)
        assert (again.code, again.out) == (0, first.out), again.err


def test_of_what_is_asked_without_a_pause_nothing_is_kept(tmp_path: Path) -> None:
    """Thousands of questions in a second: they would be most of the log."""
    first = record("asking_on.py", tmp_path, {})
    assert (first.code, first.out) == (0, "a job\ndone\n"), first.err
    assert first.log.stat().st_size < 10_000
    again = rerun(first.log, tmp_path)
    assert (again.code, again.out, again.events) == (0, first.out, first.events), again.err
