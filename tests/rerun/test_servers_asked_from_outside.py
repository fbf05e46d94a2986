"""A server that others ask: what they ask is on the tape, and is asked again in a rerun."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import PROGRAMS, rerun
from tests.rerun.served import served

httpx = pytest.importorskip("httpx", reason="needs: pip install httpx")
pytest.importorskip("uvicorn", reason="needs: pip install uvicorn")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM"),
]


@pytest.mark.parametrize(
    ("loop", "end"), [("asyncio", signal.SIGTERM), ("asyncio", signal.SIGINT), ("uvloop", signal.SIGTERM)]
)
def test_what_was_asked_is_asked_again(loop: str, end: signal.Signals, tmp_path: Path) -> None:
    if loop == "uvloop":
        pytest.importorskip("uvloop", reason="needs: pip install uvloop")
    log = tmp_path / "served.lctl.json"
    with ModelServer(random_answers=True, latency=(0.0, 0.02)) as models:
        out, answers = _serve(loop, end, log, models.environ)
        asked = len(models.requests)
    events = [event.to_dict() for event in open_log(log).events()]
    exchanges = [event["data"]["lane"] for event in events if event["type"] == "exchange"]
    assert asked == len(exchanges) == 26
    assert len(set(exchanges)) == len(answers) == 14  # each request's calls are in a lane of its own
    for _ in range(2):
        again = rerun(log, tmp_path)
        assert (again.code, again.out, again.events) == (0, out, events), again.err


def test_who_asks_while_its_loop_is_busy_is_heard_in_that_turn(tmp_path: Path) -> None:
    log = tmp_path / "busy.lctl.json"
    with (
        ModelServer(random_answers=True) as models,
        served([str(PROGRAMS / "served_while_busy.py"), "PORT"], log, models.environ) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=60) as http,
        ThreadPoolExecutor(2) as pool,
    ):
        http.get("/begin")
        time.sleep(0.05)
        assert all(answer.status_code == 200 for answer in pool.map(http.get, ["/look"] * 6))
        out = server.end()
    events = [event.to_dict() for event in open_log(log).events()]
    for _ in range(2):
        again = rerun(log, tmp_path)
        assert (again.code, again.out, again.events) == (0, out, events), again.err


def test_files_that_threads_read_come_in_their_order(tmp_path: Path) -> None:
    """Those of a page are asked for together, while the server computes, and its threads read others."""
    log = tmp_path / "files.lctl.json"
    with (
        ModelServer(random_answers=True) as models,
        served([str(PROGRAMS / "served_files.py"), "PORT"], log, models.environ) as server,
    ):
        url = f"http://127.0.0.1:{server.port}"
        with ThreadPoolExecutor(2) as visitors:
            list(visitors.map(lambda name: _browse(url, name), "ab"))
        assert httpx.get(f"{url}/ask").status_code == 200
        out = server.end()
    events = [event.to_dict() for event in open_log(log).events()]
    for _ in range(2):
        again = rerun(log, tmp_path)
        assert (again.code, again.out, again.events) == (0, out, events), again.err


def _browse(url: str, name: str) -> None:
    with httpx.Client(base_url=url, timeout=60) as http, ThreadPoolExecutor(6) as pool:
        for page in range(4):
            http.get("/page")
            list(pool.map(lambda file, page=page: http.get(f"/files/{name}{page}{file}"), range(6)))


def _serve(loop: str, end: signal.Signals, log: Path, environ: dict[str, str]) -> tuple[str, list[Any]]:
    """What the server printed, and what it answered."""
    with served([str(PROGRAMS / "served_app.py"), "PORT", loop], log, environ) as server:
        answers = _ask(f"http://127.0.0.1:{server.port}")
        out = server.end(end)
    assert all(answer.status_code == 200 for answer in answers), server.err
    return out, answers


def _ask(url: str) -> list[Any]:
    with httpx.Client(base_url=url, timeout=60) as http, ThreadPoolExecutor(5) as pool:
        answers = [http.get("/ask/first"), http.post("/ask/first", content="again")]
        answers += pool.map(lambda n: http.get(f"/ask/a{n}"), range(5))
        answers += pool.map(lambda n: http.post("/ask/same", content=f"body {n}"), range(5))
        answers += pool.map(lambda n: http.get(f"/thread/t{n}"), range(2))
    return answers
