"""Programs with agent sessions run again: the ids that lctl makes up for them are the recorded ones,
and of several recordings of a process each has its own tape to its end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, RERUNS, record, rerun, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", ["named", "unnamed", "tasks", "replies"])
def test_they_are_exact(how: str, tmp_path: Path) -> None:
    with ModelServer() as server:
        server.reply(lambda request: f"So you say: {request.last_text}", times=None)
        first = record("durable_sessions.py", tmp_path, {**server.environ, "HOW": how})
    assert first.code == 0, first.err
    assert "So you say" in first.out
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert again.out == first.out, again.err


def test_sessions_one_after_the_other_are_served_to_the_last(tmp_path: Path) -> None:
    with ModelServer() as server:
        server.reply(lambda request: f"So you say: {request.last_text}", times=None)
        command = [*LCTL, "run", str(PROGRAMS / "sittings.py")]
        first = run(command, tmp_path, server.environ, tmp_path)
    assert first.out == "".join(f"So you say: Job {number}\n" for number in range(3)), first.err
    logs = sorted((tmp_path / "logs").glob("*.lctl.json"), key=lambda path: path.stat().st_mtime_ns)
    assert len(logs) == 3
    again = rerun(logs[0], tmp_path)
    assert again.code == 0, again.err
    assert again.out == first.out
    assert again.err.count("rerun exact") == 3


@pytest.mark.parametrize("named", ["1", "0"])
def test_those_of_several_threads_in_one_log_are_exact(named: str, tmp_path: Path) -> None:
    """Which of them begins first, no two runs have in common; each sees its own messages all the same."""
    with ModelServer(random_answers=True, latency=(0.0, 0.02), seed=3) as server:
        first = record("sessions_in_threads.py", tmp_path, {**server.environ, "NAMED": named})
    assert first.code == 0, first.err
    assert first.out.count("running 6 3 {'n': 3}") == 6
    for _ in range(min(RERUNS, 3)):
        again = rerun(tmp_path / "all.lctl.json", tmp_path)
        assert again.code == 0, again.err
        assert again.out == first.out, again.err


def test_one_that_is_taken_up_forked_and_replayed_is_exact(tmp_path: Path) -> None:
    """Its logs are the program's own files; a rerun reads what it has recorded itself, and touches none."""
    with ModelServer(random_answers=True, seed=3) as server:
        first = record("taken_up.py", tmp_path, server.environ)
    assert first.code == 0, first.err
    before = {path: path.read_bytes() for path in (tmp_path / "mail.lctl.json", tmp_path / "fork.lctl.json")}
    for log in (tmp_path / "mail.lctl.json", first.log):
        again = rerun(log, tmp_path)
        assert again.code == 0, again.err
        assert again.out == first.out, again.err
        assert again.err.count("rerun exact") == 3, again.err
    assert {path: path.read_bytes() for path in before} == before
    assert (tmp_path / "weighed.txt").read_text() == "one\ntwo\n"


def test_a_program_that_reads_its_own_facts_is_exact(tmp_path: Path) -> None:
    """Also a rerun of its rerun, whose log has another id."""
    with ModelServer(random_answers=True, seed=3) as server:
        command = [sys.executable, str(PROGRAMS / "own_facts.py")]
        first = run(command, tmp_path, server.environ, tmp_path)
    assert first.out == "proceed confirmed\n", first.err
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    for _ in range(2):
        again = rerun(log, tmp_path)
        assert again.code == 0, again.err
        assert again.out == first.out, again.err
        log = again.log.rename(tmp_path / "of-a-rerun.lctl.json")
