"""A server that runs under `lctl run`, while a test asks it from outside."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.rerun.harness import LCTL, PROGRAMS, await_port
from tests.warm.starting import python_path


class Served:
    """
    Attributes:
        port: where it listens.
        code, err: its exit code, and what it wrote to stderr, once it has ended.
    """

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port
        self.code: int | None = None
        self.err = ""

    def end(self, by: signal.Signals = signal.SIGTERM) -> str:
        """What it printed, by its end."""
        self.process.send_signal(by)
        out, self.err = self.process.communicate(timeout=30)
        self.code = self.process.returncode
        return out


@contextmanager
def served(words: Sequence[str], log: Path, environ: dict[str, str]) -> Iterator[Served]:
    """Of what follows `lctl run`, in the folder of `log`; "PORT" stands for the port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LCTL_", "OPENAI_", "PYTEST_"))
    }
    kept |= {"PYTHONPATH": python_path(PROGRAMS), "NO_COLOR": "1", **environ}
    process = subprocess.Popen(
        [*LCTL, "run", "-o", str(log), *(word.replace("PORT", str(port)) for word in words)],
        cwd=log.parent,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        await_port(port)
        yield Served(process, port)
    finally:
        process.kill()
        process.communicate()
