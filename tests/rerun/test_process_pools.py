"""Pools of several processes: in a rerun each job is with the worker that took it when it was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, Result, rerun, run

pytestmark = pytest.mark.slow

_PARENTS = ("run.lctl", "again.lctl", "fork.lctl")


def _record(server: ModelServer, folder: Path, program: str, *words: str) -> Result:
    log = folder / "run.lctl.json"
    command = [*LCTL, "run", "--output", str(log), str(PROGRAMS / program), *words]
    first = run(command, folder, server.environ, log)
    assert first.code == 0, first.err
    return first


def _took(result: Result) -> list[list[str]]:
    """Jobs and their workers."""
    (told,) = (event["data"]["value"] for event in result.events if event["data"].get("source") == "jobs")
    took: list[list[str]] = told["took"]
    return took


def _said_by_children(folder: Path, seen: set[Path]) -> list[list[Any]]:
    """Of each child's log in that folder that has come: what was said."""
    found = {path for path in folder.rglob("*.lctl.json") if path.stem not in _PARENTS}
    logs = [open_log(path) for path in found - seen]
    seen |= found
    return sorted(
        [event.to_dict()["data"].get("content") for event in log.events() if event.type == "message"]
        for log in logs
    )


@pytest.mark.parametrize(
    ("part", "method"),
    [
        ("futures", "fork"),
        ("futures", "spawn"),
        ("loop", "fork"),
        ("loop", "spawn"),
        ("pool", "fork"),
        ("pool", "spawn"),
        ("pool", "forkserver"),
        ("renewed", "fork"),
    ],
)
def test_jobs_are_with_the_worker_that_took_them(part: str, method: str, tmp_path: Path) -> None:
    with ModelServer(random_answers=True) as server:
        first = _record(server, tmp_path, "process_pools.py", method, part)
    assert len({worker for _, worker in _took(first)}) > 1
    seen: set[Path] = set()
    said = _said_by_children(tmp_path, seen)
    assert said
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)
    assert _said_by_children(tmp_path, seen) == said
    assert "not exact" not in again.err


def test_children_of_the_fork_server(tmp_path: Path) -> None:
    """Each goes on with its own recording, though the server that forks them was started by the first."""
    with ModelServer(random_answers=True) as server:
        first = _record(server, tmp_path, "served_children.py")
    seen: set[Path] = set()
    said = _said_by_children(tmp_path, seen)
    assert len(said) == 5
    again = rerun(first.log, tmp_path)
    assert again.code == 0, again.err
    assert (again.out, again.events) == (first.out, first.events)
    assert _said_by_children(tmp_path, seen) == said
    assert "not exact" not in again.err


def test_what_ended_workers_did_is_counted(tmp_path: Path) -> None:
    """A pool ends its workers by SIGTERM: nobody closes their logs."""
    with ModelServer(random_answers=True) as server:
        _record(server, tmp_path, "process_pools.py", "fork", "ended")
        asked = len(server.requests)
    listed = run([*LCTL, "ls", str(tmp_path), "--json"], tmp_path, {}, tmp_path)
    runs = [json.loads(line) for line in listed.out.splitlines()]
    workers = [each for each in runs if each["open"]]
    assert workers
    assert not any(each["live"] or "outcome" in each["summary"] for each in workers)
    assert sum((each["summary"] or {}).get("llm_calls", 0) for each in runs) == asked
