"""Ctrl-C that a program lives through, or dies of: it comes again in a rerun where it came."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, rerun

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sends signals, and looks at threads"),
]


def _recorded(folder: Path, program: Path, *words: str, lines: int) -> tuple[Path, str, int]:
    """The log of a program that was interrupted behind so many lines, what it printed, and its code."""
    log = folder / "agent.lctl.json"
    command = [*LCTL, "run", "--output", str(log), str(program), *words]
    with ModelServer(random_answers=True) as models:
        cold = {name: value for name, value in os.environ.items() if name != "WARM_PYTHON"}
        environ = {**cold, **models.environ, "PYTHONPATH": str(PROGRAMS)}
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environ,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as running:
            assert running.stdout is not None
            out = "".join(running.stdout.readline() for _ in range(lines))
            time.sleep(0.1)
            running.send_signal(signal.SIGINT)
            out += running.stdout.read()
        return log, out, running.returncode


@pytest.mark.parametrize("way", ["itself", "computing", "thread", "tasks", "uncaught"])
def test_it_comes_again_where_it_came(way: str, tmp_path: Path) -> None:
    log, out, code = _recorded(tmp_path, PROGRAMS / "is_interrupted.py", way, lines=4)
    assert code == (-signal.SIGINT if way == "uncaught" else 0)
    assert way == "uncaught" or out.splitlines()[-1].partition(" ")[0] in ("summary", "interrupted")
    events = [event.to_dict() for event in open_log(log).events()]
    heard = [event["data"]["key"] for event in events if event["data"].get("source") == "heard"]
    assert heard == ["SIGINT"]
    for _ in range(2):
        again = rerun(log, tmp_path, timeout=60)
        assert (again.code, again.out) == (130 if way == "uncaught" else 0, out), again.err
        assert again.events == events
