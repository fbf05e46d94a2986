"""A run that is being recorded: what the page is told, and when."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import lctl
from tests.unit.debugger.conftest import Debugger
from tests.unit.debugger.logs import append, open_log, review, save

Start = Callable[..., Debugger]


def test_a_running_program_is_followed_to_its_end(debug: Start, tmp_path: Path) -> None:
    """A real session records; every event is told of once, in order, and then that it ended."""
    path = tmp_path / "run.lctl.json"
    session = lctl.LCTLSession("live", path=path)
    session.step_start("worker", "begin")
    server = debug(path)
    run = server.get("/api/run")
    assert (run["status"], run["live"]) == ("live", True)
    stream = server.stream(f"/api/live?after={run['last_seq']}")

    def record() -> None:
        for n in range(300):
            session.add_fact(f"F{n}", "text", confidence=0.5)
            time.sleep(0.001)
        session.error("execution_error", "timeout", "x", recoverable=True)
        session.step_end("worker")
        session.close()

    thread = threading.Thread(target=record)
    thread.start()
    told = list(stream)
    thread.join()
    batches = [data for event, data in told if event == "batch"]
    assert [data["what"] for event, data in told if event == "note"] == ["closed"]
    last = run["last_seq"]
    for batch in batches:
        assert batch["from"] == last + 1
        last = batch["to"]
        assert batch["rows"][-1]["seq"] == last
    assert last == server.get("/api/run")["last_seq"] == run["last_seq"] + 302
    assert [seq for batch in batches for seq in batch["errors"]] == [last - 1]
    assert sum(sum(batch["agents"].values()) for batch in batches) == 302
    assert server.get("/api/state")["fact_count"] == 300
    assert server.get("/api/run")["live"] is False


def test_many_events_at_once_are_one_message(debug: Start, tmp_path: Path) -> None:
    """A burst is counted and its newest shown; what was read of the log before is kept."""
    path = open_log(tmp_path / "run.lctl.json", review())
    server = debug(path)
    before = server.get("/api/state", at=13)
    stream = server.stream("/api/live?after=21")
    append(path, [_fact(22 + n) for n in range(3000)])
    told = []
    for event, data in stream:
        told.append((event, data))
        if event == "note" or (event == "batch" and data["to"] == 3021):
            break
    stream.close()
    batches = [data for event, data in told if event == "batch"]
    assert sum(batch["events"] for batch in batches) == 3000
    assert all(len(batch["rows"]) <= 100 for batch in batches)
    assert sum(batch["skipped"] + len(batch["rows"]) for batch in batches) == 3000
    after = server.get("/api/state", at=13)
    assert (after["facts"], after["totals"]) == (before["facts"], before["totals"])
    assert server.get("/api/state")["fact_count"] == 3002
    assert server.get("/api/timeline")["lanes"][-1] | {"counts": 0, "errors": 0, "spans": 0} == {
        "agent": "late",
        "total": 3000,
        "counts": 0,
        "errors": 0,
        "spans": 0,
        "tools": [],
        "others": 0,
    }


def test_a_log_that_grows_while_its_reading_is_waited_for(
    debug: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waited has an answer as well, while another question has the rest read."""
    path = open_log(tmp_path / "run.lctl.json", review())
    append(path, [_fact(seq) for seq in range(22, 3_000)])
    server = debug(path)
    join, begin = threading.Thread.join, threading.Thread.start
    read, beginning = threading.Event(), threading.Event()

    def join_and_be_late(thread: threading.Thread, timeout: float | None = None) -> None:
        join(thread, timeout)
        if thread.name == "lctl-columns" and not read.is_set():
            read.set()
            beginning.wait(5)

    def begin_late(thread: threading.Thread) -> None:
        if thread.name == "lctl-columns" and read.is_set():
            beginning.set()
            time.sleep(0.2)
        begin(thread)

    monkeypatch.setattr(threading.Thread, "join", join_and_be_late)
    monkeypatch.setattr(threading.Thread, "start", begin_late)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(server.ask, "/api/timeline", width=400)
        assert read.wait(30)
        append(path, [_fact(3_000)])
        time.sleep(0.06)  # a log is looked at again after a while only
        second = pool.submit(server.ask, "/api/timeline", width=500)
        assert [first.result().status, second.result().status] == [200, 200]
    assert server.get("/api/run")["last_seq"] == 3_000


def _fact(seq: int) -> dict[str, Any]:
    return {
        "seq": seq,
        "type": "fact_added",
        "timestamp": "2026-01-01T00:00:09.000000Z",
        "agent": "late",
        "data": {"id": f"L{seq}", "text": "x", "confidence": 0.1},
    }


def test_what_becomes_of_the_file_is_told(debug: Start, tmp_path: Path) -> None:
    """Another log in its place, no file, a writer that is gone."""
    abandoned = debug(open_log(tmp_path / "a.lctl.json", review()))
    assert [data["what"] for event, data in abandoned.stream("/api/live") if event == "note"] == ["abandoned"]
    path = open_log(tmp_path / "b.lctl.json", review())
    server = debug(path)
    stream = server.stream("/api/live")
    save(tmp_path / "new.json", review()[:3], id="other").replace(path)
    assert [data["what"] for event, data in stream if event == "note"] == ["replaced"]
    assert server.get("/api/run")["events"] == 3
    closed = server.stream("/api/live")
    assert [data["what"] for event, data in closed if event == "note"] == ["closed"]


def test_the_folder_tells_of_new_runs(debug: Start, tmp_path: Path) -> None:
    save(tmp_path / "a.lctl.json", review(), id="a")
    server = debug(tmp_path)
    stream = server.stream("/api/runs/live")
    assert server.get("/api/runs")["total"] == 1
    time.sleep(0.3)
    save(tmp_path / "b.lctl.json", review(), id="b")
    event, data = next(iter(stream))
    stream.close()
    assert (event, data["changed"], data["live"]) == ("runs", ["b.lctl.json"], [])
    assert [one["key"] for one in server.get("/api/runs")["runs"]] == ["b.lctl.json", "a.lctl.json"]
