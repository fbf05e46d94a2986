"""Programs recorded against a world of random answers, then run again with that world gone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from lctl.codec import open_log
from tests.warm.starting import python_path

#: How often a recording is run again. (LCTL_RERUNS: fewer where time is short.)
RERUNS = int(os.environ.get("LCTL_RERUNS", "20"))
PROGRAMS = Path(__file__).parent / "programs"
LCTL = (sys.executable, "-m", "lctl")


class Result(NamedTuple):
    """What one run of a command left. `log` is where its events are."""

    code: int
    out: str
    err: str
    log: Path

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event.to_dict() for event in open_log(self.log).events()]


class World:
    """The servers a program talks to, in their own process. `count` is how many requests they got."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("server_process.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.environ: dict[str, str] = json.loads(self._process.stdout.readline())["environ"]

    @property
    def count(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Silence:
    """Listens where the servers of a recording were: `connections` counts who still comes there."""

    def __init__(self, recorded: Result) -> None:
        urls = (e["data"]["url"] for e in recorded.events if e["type"] == "exchange")
        ports = {urlsplit(url).port or 0 for url in urls if urlsplit(url).hostname == "127.0.0.1"}
        self.connections = 0
        # Port 9 is nobody's: other tests' recordings knock there, too.
        self._listeners = [socket.create_server(("127.0.0.1", port)) for port in sorted(ports) if port > 1023]
        assert self._listeners
        for listener in self._listeners:
            threading.Thread(target=self._count, args=(listener,), daemon=True).start()

    def _count(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for listener in self._listeners:
            listener.close()


def record(
    program: str,
    folder: Path,
    environ: Mapping[str, str],
    *options: str,
    stdin: str = "",
    timeout: float = 120,
) -> Result:
    """`lctl run` of one of PROGRAMS, in `folder`."""
    log = folder / f"{Path(program).stem}.lctl.json"
    return run(
        [*LCTL, "run", "--output", str(log), *options, str(PROGRAMS / program)],
        folder,
        environ,
        log,
        stdin,
        timeout,
    )


def rerun(
    log: Path, folder: Path, *options: str, environ: Mapping[str, str] | None = None, timeout: float = 120
) -> Result:
    """`lctl rerun` of a log, with nothing of the world in the environment."""
    again = folder / "again.lctl.json"
    again.unlink(missing_ok=True)
    command = [*LCTL, "rerun", str(log), "--output", str(again), *options]
    return run(command, folder, environ or {}, again, "", timeout)


def run(
    command: list[str],
    folder: Path,
    environ: Mapping[str, str],
    log: Path,
    stdin: str = "",
    timeout: float = 120,
) -> Result:
    clean = {
        k: v for k, v in os.environ.items() if not k.startswith(("LCTL_", "OPENAI_", "ANTHROPIC_", "PYTEST_"))
    }
    clean |= {
        "PYTHONPATH": python_path(PROGRAMS),
        "LCTL_DIR": str(folder / "logs"),
        "NO_COLOR": "1",
        **environ,
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=clean,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr, log)


def await_port(port: int) -> None:
    """Until somebody listens at that port of this machine; a minute at most."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.05)
