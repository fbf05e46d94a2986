"""Servers that answer in other processes than their first: workers, and those that start themselves anew."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lctl.codec import Log, open_log
from lctl.rerun.order.watching import listening
from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, await_port, rerun
from tests.seeds import some

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux"),
]

_WSGI = str(PROGRAMS / "served_wsgi.py")
_UVICORN = ["-m", "uvicorn", "served_asgi:app", "--port", "PORT"]
_GUNICORN = ["-m", "gunicorn", "-b", "127.0.0.1:PORT", "served_wsgi:application"]
#: Processes of their own, and none of the tests' server of programs: what the system says of them is asked.
_COLD = {"PYTHONPATH": str(PROGRAMS)}
#: package, command, how it is ended
SERVERS: dict[str, tuple[str, list[str], signal.Signals]] = {
    "django": ("django", [_WSGI, "runserver", "PORT"], signal.SIGINT),
    "flask": ("flask", [_WSGI, "PORT"], signal.SIGINT),
    "uvicorn-reload": ("uvicorn", [*_UVICORN, "--reload"], signal.SIGINT),
    "uvicorn-workers": ("uvicorn", [*_UVICORN, "--workers", "2"], signal.SIGTERM),
    "gunicorn": ("gunicorn", [*_GUNICORN, "-w", "2"], signal.SIGTERM),
    "gunicorn-one": ("gunicorn", [*_GUNICORN, "-w", "1"], signal.SIGINT),
    "forked": ("openai", [str(PROGRAMS / "served_elsewhere.py"), "worker", "PORT"], signal.SIGTERM),
}
_SPAWNS = """
import multiprocessing

def work():
    import lctl
    lctl.auto_instrument()
    from common_openai import ask
    from openai import OpenAI
    ask(OpenAI(), "question")

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start()
    process.join()
"""


@pytest.mark.parametrize("kind", SERVERS)
def test_each_process_is_asked_again_what_it_was_asked(kind: str, tmp_path: Path) -> None:
    package, words, end = SERVERS[kind]
    pytest.importorskip(package, reason=f"needs: pip install {package}")
    log = tmp_path / "served.lctl.json"
    with ModelServer(random_answers=True) as models:
        answers = _serve(words, end, log, tmp_path, models.environ)
        asked = len(models.requests)
    assert all(answers)
    again = rerun(log, tmp_path, environ=_COLD)
    assert again.code == 0, again.err
    assert not _left(tmp_path / "logs")
    logs = _logs(tmp_path)
    recorded = [one for one in logs if "rerun" not in one.chain]
    parts = [one for one in recorded if _arrivals(one)]
    assert sum(_arrivals(one) for one in parts) == len(answers)
    assert sum(event.type == "exchange" for one in parts for event in one.events()) == asked
    for one in parts:
        (twin,) = (other for other in logs if other.chain.get("rerun") == {"of": one.id})
        # What a worker that was killed would have written is in no recording.
        events = [event.to_dict() for event in twin.events()]
        assert events[: len(one)] == [event.to_dict() for event in one.events()]


def test_it_is_started_anew_as_it_was_for_a_change(tmp_path: Path) -> None:
    pytest.importorskip("flask", reason="needs: pip install flask")
    program = tmp_path / "changing.py"
    program.write_text(Path(_WSGI).read_text())
    log = tmp_path / "served.lctl.json"
    with ModelServer(random_answers=True) as models:
        words = [str(program), "PORT"]
        assert all(_serve(words, signal.SIGINT, log, tmp_path, models.environ, program))
    again = rerun(log, tmp_path, environ=_COLD)
    assert again.code == 0, again.err
    logs = _logs(tmp_path)
    generations = [one for one in logs if "rerun" not in one.chain and _arrivals(one)]
    assert len(generations) == 2
    assert not any(event.type == "error" for one in generations for event in one.events())
    reruns = {str(one.chain["rerun"]["of"]) for one in logs if "rerun" in one.chain}
    assert {one.id for one in generations} <= reruns


@pytest.mark.parametrize("where", some(["here", "child", "process"], "LCTL_PLACES"))
def test_a_worker_that_waits_for_its_broker_is_told_so(where: str, tmp_path: Path) -> None:
    """Whichever process it is, all of them end."""
    log = tmp_path / "worked.lctl.json"
    with ModelServer() as models, socket.create_server(("127.0.0.1", 0)) as broker:
        port = broker.getsockname()[1]
        worker = subprocess.Popen(
            [*LCTL, "run", "-o", str(log), str(PROGRAMS / "waits_for_broker.py"), where, str(port)],
            cwd=tmp_path,
            env=_environ(tmp_path, models.environ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for job in (b"first", b"second", b""):
            connection, _ = broker.accept()
            connection.sendall(job)
            connection.close()
        assert worker.wait(60) == 0
    again = rerun(log, tmp_path, environ=_COLD)
    assert again.code == 1
    assert f"rerun stopped: the program asks for 127.0.0.1:{port} again and again" in again.err
    assert "Traceback" not in again.err
    assert not _left(tmp_path / "logs")


def test_a_log_of_one_worker_says_what_to_run_again(tmp_path: Path) -> None:
    """It began in a process that multiprocessing had started: its command line leads nowhere."""
    program = tmp_path / "agent.py"
    program.write_text(_SPAWNS)
    with ModelServer() as models:
        environ = _environ(tmp_path, models.environ)
        subprocess.run([sys.executable, str(program)], cwd=tmp_path, env=environ, check=True, timeout=60)
    (log,) = (tmp_path / "logs").glob("*.lctl.json")
    again = rerun(log, tmp_path, environ=_COLD)
    assert again.code == 3
    assert "run the whole program again: record it by `lctl run`" in again.err
    assert "Traceback" not in again.err


def _serve(
    words: Sequence[str],
    end: signal.Signals,
    log: Path,
    folder: Path,
    environ: dict[str, str],
    changed: Path | None = None,
) -> list[bytes]:
    """What the server answered; all its processes get the signal as from a terminal, if that is Ctrl-C."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [*LCTL, "run", "-o", str(log), *(word.replace("PORT", str(port)) for word in words)]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_environ(folder, environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        answers = _ask(port)
        if changed is not None:
            before = _listeners(port)
            changed.write_text(changed.read_text() + "# changed\n")
            _await(lambda: bool(_listeners(port) - before))
            answers += _ask(port)
        if end == signal.SIGINT:
            os.killpg(process.pid, end)
        else:
            process.send_signal(end)
        process.wait(60)
    finally:
        for left in _left(folder / "logs"):
            os.kill(left, signal.SIGKILL)
        process.kill()
    return answers


def _ask(port: int) -> list[bytes]:
    await_port(port)

    def ask(name: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{name}", timeout=60) as answer:
            said: bytes = answer.read()
            return said

    with ThreadPoolExecutor(3) as pool:
        return [ask("first"), *pool.map(ask, "abc")]


def _await(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not what():
        assert time.monotonic() < until
        time.sleep(0.1)


def _environ(folder: Path, environ: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LCTL_", "OPENAI_"))}
    return {**kept, **_COLD, "LCTL_DIR": str(folder / "logs"), "HOME": str(folder), **environ}


def _logs(folder: Path) -> list[Log]:
    return [open_log(path) for path in sorted(folder.rglob("*.lctl.json"))]


def _arrivals(log: Log) -> int:
    return sum(event.data.get("source") == "request" for event in log.events())


def _left(logs: Path) -> set[int]:
    """Processes that record there."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if os.fsencode(f"LCTL_DIR={logs}") in entry.read_bytes():
                found.add(int(entry.parent.name))
        except OSError:
            pass  # another's, or it has ended
    return found


def _listeners(port: int) -> set[int]:
    """Processes that were started by others and have the socket of that port."""
    return {process for process in _all() if f"127.0.0.1:{port}" in listening({process})}


def _all() -> set[int]:
    return {int(entry.name) for entry in Path("/proc").glob("[0-9]*")}
