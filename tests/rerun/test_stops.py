"""Programs that stop themselves: by a signal, by an exit in the middle of a tool."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.rerun.harness import LCTL, PROGRAMS, record, rerun, run

pytestmark = pytest.mark.slow

EXITS = """
    import asyncio, lctl

    @lctl.tool
    def command(n):
        if n == 1:
            raise SystemExit(2)
        if n == 2:
            raise KeyboardInterrupt
        return "done"

    @lctl.tool
    async def later():
        raise SystemExit("bye")

    for n in range(3):
        try:
            print(command(n))
        except (SystemExit, KeyboardInterrupt) as stop:
            print(type(stop).__name__, stop.args)
    try:
        asyncio.run(later())
    except SystemExit as stop:
        print("left with", stop.code)
    command(1)
"""

#: Its id as it was recorded is another process's in the rerun: that of the test.
SIGNALS = """
    import os, signal, time

    heard = []
    signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))
    os.kill(os.getpid(), 0)
    os.kill(os.getpid(), signal.SIGUSR1)
    print("heard", len(heard), flush=True)
"""


@pytest.mark.parametrize("by", ["lctl run", "auto_instrument"])
def test_a_tool_that_exits(by: str, tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    text = textwrap.dedent(EXITS)
    log = tmp_path / "logs" / "agent.lctl.json"
    if by == "lctl run":
        program.write_text(text)
        first = run([*LCTL, "run", "-o", str(log), str(program)], tmp_path, {}, log)
    else:
        program.write_text(f"import lctl; lctl.auto_instrument()\n{text}")
        first = run([sys.executable, str(program)], tmp_path, {"LCTL_DIR": str(log.parent)}, log.parent)
        (log,) = log.parent.glob("*.lctl.json")
    assert first.code == 2
    assert first.out.splitlines() == ["done", "SystemExit (2,)", "KeyboardInterrupt ()", "left with bye"]
    again = rerun(log, tmp_path)
    assert (again.code, again.out) == (2, first.out), again.err
    assert "rerun exact" in again.err


def test_a_signal_to_itself(tmp_path: Path) -> None:
    program, log = tmp_path / "agent.py", tmp_path / "logs" / "agent.lctl.json"
    program.write_text(textwrap.dedent(SIGNALS))
    first = run([*LCTL, "run", "-o", str(log), str(program)], tmp_path, {}, log)
    assert (first.code, first.out) == (0, "heard 1\n"), first.err
    recorded = re.sub(rb'("key":"os.getpid","value":)\d+', rb"\g<1>%d" % os.getpid(), log.read_bytes())
    log.write_bytes(re.sub(rb',"hash":\{[^}]*\}', b"", recorded))
    again = rerun(log, tmp_path)  # a signal to this process would end the test run
    assert (again.code, again.out) == (0, first.out), again.err
    assert "rerun exact" in again.err


def test_a_signal_to_another_process_is_refused(tmp_path: Path) -> None:
    program, log = tmp_path / "agent.py", tmp_path / "logs" / "agent.lctl.json"
    program.write_text(f"import os, signal\nos.getpid()\nos.kill({os.getpid()}, signal.SIGWINCH)\n")
    assert run([*LCTL, "run", "-o", str(log), str(program)], tmp_path, {}, log).code == 0
    again = rerun(log, tmp_path)
    assert again.code == 1
    assert f"sending signal 28 to process {os.getpid()} is refused: this is a rerun" in again.err
    allowed = run([*LCTL, "rerun", str(log), "--allow", "subprocess:signal"], tmp_path, {}, log)
    assert allowed.code == 0, allowed.err


#: Somebody else makes the folder.
WAITS = """
    import os, time

    while not os.access("end", os.F_OK):
        time.sleep(0.1)
    print("ended")
"""


def test_one_that_goes_on_where_its_recording_has_ended_is_stopped(tmp_path: Path) -> None:
    program, log, end = tmp_path / "agent.py", tmp_path / "agent.lctl.json", tmp_path / "end"
    program.write_text(textwrap.dedent(WAITS))
    threading.Timer(2.0, end.mkdir).start()
    first = run([*LCTL, "run", "--output", str(log), str(program)], tmp_path, {}, log)
    assert (first.code, first.out) == (0, "ended\n"), first.err
    end.rmdir()
    again = rerun(log, tmp_path, timeout=60)
    assert (again.code, again.out) == (1, ""), again.err
    assert "goes on where its recording has ended, and sleeps again and again" in again.err


def _killed(program: str, folder: Path) -> tuple[Path, list[str]]:
    """A recording of one of PROGRAMS that somebody killed, and its lines."""
    log = folder / "killed.lctl.json"
    words = [*LCTL, "run", "--output", str(log), str(PROGRAMS / program)]
    cold = {name: value for name, value in os.environ.items() if name != "WARM_PYTHON"}
    with subprocess.Popen(words, cwd=folder, env=cold, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        out = [running.stdout.readline() for _ in range(20)]
        running.kill()
        return log, [*out, *running.stdout]


def test_one_that_is_killed_in_its_sleep_gets_no_further(tmp_path: Path) -> None:
    log, out = _killed("killed_asleep.py", tmp_path)
    again = rerun(log, tmp_path, timeout=30)
    assert again.code == 0, again.err
    assert "rerun exact: up to event" in again.err
    said = again.out.splitlines(keepends=True)
    for who in ("thread", "first", "second"):
        printed = [line for line in out if line.startswith(who)]
        assert [line for line in said if line.startswith(who)][: len(printed)] == printed


def test_one_that_is_killed_as_nothing_is_recorded_any_more_ends(tmp_path: Path) -> None:
    """What it did by timers it would do for ever."""
    log, _ = _killed("killed_polling.py", tmp_path)
    again = rerun(log, tmp_path, timeout=30)
    assert again.code == 0, again.err
    assert "rerun exact: up to event" in again.err
    assert again.events == [event.to_dict() for event in open_log(log).events()]


def test_one_that_polls_for_what_is_not_on_the_tape(tmp_path: Path) -> None:
    """Its timers take no time: without a word of ours it would go on for ever."""
    with ModelServer() as models:
        first = record("polls_a_pipe.py", tmp_path, models.environ, stdin="one\ntwo\nend\n")
    assert first.code == 0 and len(first.out.splitlines()) == 2, first.err
    again = rerun(first.log, tmp_path, timeout=60)
    assert again.code == 1
    assert "goes on by sleeps and limits of time alone" in again.err
    assert "recorded, and not asked for: event " in again.err
