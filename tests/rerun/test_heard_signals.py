"""Signals that somebody sends to a program which handles them: they come again in a rerun."""

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


def _recorded(folder: Path, *words: str) -> tuple[Path, str]:
    """The log of PROGRAMS' `heeds_signals.py`, asked twice and then told to stop, and what it printed."""
    log = folder / "heeds.lctl.json"
    command = [*LCTL, "run", "--output", str(log), str(PROGRAMS / "heeds_signals.py"), *words]
    with ModelServer(random_answers=True) as models:
        cold = {name: value for name, value in os.environ.items() if name != "WARM_PYTHON"}
        environ = {**cold, **models.environ, "PYTHONPATH": str(PROGRAMS)}
        with subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            out = ""
            for number in (signal.SIGUSR1, signal.SIGUSR1, signal.SIGTERM):
                out += program.stdout.readline() + program.stdout.readline()
                time.sleep(0.1)  # it waits for an answer by then, or sleeps
                program.send_signal(number)
            out += program.stdout.read()
        assert program.returncode == 0
    return log, out


@pytest.mark.parametrize("way", ["turns", "exception", "tasks", "computing", "tools"])
def test_they_come_again_where_they_came(way: str, tmp_path: Path) -> None:
    log, out = _recorded(tmp_path, way)
    assert out.splitlines()[-2].count("done") == 2
    events = [event.to_dict() for event in open_log(log).events()]
    heard = [event["data"]["key"] for event in events if event["data"].get("source") == "heard"]
    assert heard == ["SIGUSR1", "SIGUSR1", "SIGTERM"]
    for _ in range(3):
        again = rerun(log, tmp_path, timeout=60)
        assert (again.code, again.out) == (0, out), again.err
        assert again.events == events


def test_what_comes_in_a_tools_body_and_ends_that_is_what_the_tool_did(tmp_path: Path) -> None:
    """And a handler that a tool sets for its own time hears nothing in a rerun, which does not run that."""
    program, log = tmp_path / "agent.py", tmp_path / "agent.lctl.json"
    program.write_text(
        "import os, signal, time, lctl\n"
        "class Stopped(Exception): pass\n"
        "def stop(*_): raise Stopped('told to')\n"
        "def wait():\n"
        "    print('waits', flush=True)\n"
        "    time.sleep(60)\n"
        "@lctl.tool\n"
        "def outer() -> str:\n"
        "    wait()\n"
        "@lctl.tool\n"
        "def inner() -> str:\n"
        "    before = signal.signal(signal.SIGUSR1, stop)\n"
        "    try: wait()\n"
        "    except Stopped: return 'stopped'\n"
        "    finally: signal.signal(signal.SIGUSR1, before)\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        "try: print(outer())\n"
        "except Stopped as error: print(repr(error))\n"
        "print(inner())\n"
        "print(signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL)\n"
        "print(signal.getsignal(signal.SIGTERM) is stop)\n"
    )
    command = [*LCTL, "run", "--output", str(log), str(program)]
    cold = {name: value for name, value in os.environ.items() if name != "WARM_PYTHON"}
    with subprocess.Popen(command, cwd=tmp_path, env=cold, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        out = ""
        for number in (signal.SIGTERM, signal.SIGUSR1):
            while "waits" not in (line := first.stdout.readline()):
                out += line
            out += line
            time.sleep(0.1)
            first.send_signal(number)
        out += first.stdout.read()
    assert out == "waits\nStopped('told to')\nwaits\nstopped\nTrue\nTrue\n"
    again = rerun(log, tmp_path)
    assert (again.code, again.out) == (0, out), again.err
    assert not any(event["data"].get("source") == "heard" for event in again.events)


def test_what_a_program_sends_itself_is_sent_by_itself(tmp_path: Path) -> None:
    program, log = tmp_path / "agent.py", tmp_path / "agent.lctl.json"
    program.write_text(
        "import os, signal, threading, time\n"
        "heard = []\n"
        "signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))\n"
        "os.kill(os.getpid(), signal.SIGUSR1)\n"
        "signal.raise_signal(signal.SIGUSR1)\n"
        "signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)\n"
        "time.sleep(0.01)\n"
        "print(len(heard))\n"
    )
    first = subprocess.run(
        [*LCTL, "run", "--output", str(log), str(program)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert first.stdout == "3\n"
    again = rerun(log, tmp_path)
    assert (again.code, again.out) == (0, "3\n"), again.err
    assert not any(event["data"].get("source") == "heard" for event in again.events)
