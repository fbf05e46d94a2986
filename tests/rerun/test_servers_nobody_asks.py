"""A rerun of a server whose requests are not on its tape: it ends, and says why."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, await_port, rerun
from tests.seeds import some

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM"),
]

#: Processes of their own, and none of the tests' server of programs: what the system says of them is asked.
_COLD = {"PYTHONPATH": str(PROGRAMS)}


@pytest.mark.parametrize("kind", some(["worker", "child"], "LCTL_PLACES"))
def test_it_ends_and_says_why(kind: str, tmp_path: Path) -> None:
    log = tmp_path / "served.lctl.json"
    with ModelServer(random_answers=True) as models:
        port = _serve(kind, log, tmp_path, models.environ)
        assert len(models.requests) == 1
    again = rerun(log, tmp_path, environ=_COLD, timeout=100)
    assert again.code == 1, again.err
    said = f"the program is a server, waits to be asked at 127.0.0.1:{port}, and nobody asks it"
    assert "rerun stopped: " in again.err and said in again.err
    assert "refused" not in again.err
    assert "blocked" not in again.err


def _serve(kind: str, log: Path, folder: Path, environ: dict[str, str]) -> int:
    """At which port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LCTL_", "OPENAI_"))}
    kept |= {**_COLD, **environ}
    command = [*LCTL, "run", "-o", str(log), str(PROGRAMS / "served_elsewhere.py"), kind, str(port)]
    process = subprocess.Popen(command, cwd=folder, env=kept, stderr=subprocess.DEVNULL)
    try:
        await_port(port)
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(b"no HTTP\n")
            assert line.recv(1000)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
    finally:
        process.kill()
    return port
