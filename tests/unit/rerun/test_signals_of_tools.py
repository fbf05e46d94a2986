"""What tools do that the program waits for: a rerun, which does not run the tools, does it again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, Result, run
from tests.unit.rerun.signalprograms import BEGIN, HANGING, OF_LIBRARIES, PROGRAMS, STANDING


def _recorded(text: str, folder: Path) -> tuple[Result, Path, dict[str, str]]:
    program, log = folder / "tea.py", folder / "tea.lctl.json"
    program.write_text(BEGIN + text)
    environ = {"LCTL_DIR": str(folder), "LCTL_STRICT": "1"}
    first = run([*LCTL, "run", "--output", str(log), str(program)], folder, environ, log)
    assert first.code == 0, first.err
    return first, log, environ


@pytest.mark.slow
@pytest.mark.interpreter
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_waits_for_a_tool_goes_on(name: str, tmp_path: Path) -> None:
    """It would wait for ever."""
    first, log, environ = _recorded(PROGRAMS[name], tmp_path)
    again = tmp_path / "again.lctl.json"
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert rerun.code == 0, rerun.err
    assert (rerun.out, rerun.events) == (first.out, first.events)


@pytest.mark.slow
@pytest.mark.interpreter
@pytest.mark.parametrize("name", OF_LIBRARIES)
def test_what_waits_by_a_library_goes_on(name: str, tmp_path: Path) -> None:
    """Of several tasks cancelled at once trio draws who goes on first; a scheduler asks for the date."""
    pytest.importorskip(name)
    first, log, environ = _recorded(OF_LIBRARIES[name], tmp_path)
    again = tmp_path / "again.lctl.json"
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert rerun.code == 0, rerun.err
    assert (rerun.out, rerun.events) == (first.out, first.events)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell what threads wait for")
@pytest.mark.slow
@pytest.mark.parametrize("name", STANDING)
def test_a_rerun_in_which_nothing_can_happen_says_where_it_waits(name: str, tmp_path: Path) -> None:
    """A lock that a tool lets go of, an event that it sets: nothing tells that it did."""
    _, log, environ = _recorded(STANDING[name], tmp_path)
    again = tmp_path / "again.lctl.json"
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert rerun.code == 1
    lines = (tmp_path / "tea.py").read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.endswith("# here"))
    assert "nothing can happen any more" in rerun.err
    assert f"tea.py:{line}" in rerun.err


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell what threads wait for")
@pytest.mark.slow
def test_a_program_that_was_interrupted_while_it_waited_is_interrupted_there(tmp_path: Path) -> None:
    """By hand, from outside: nothing else ends what it waits for."""
    program, log, again = (tmp_path / part for part in ("tea.py", "tea.lctl.json", "again.lctl.json"))
    program.write_text(BEGIN + HANGING)
    environ = {"LCTL_DIR": str(tmp_path), "LCTL_STRICT": "1"}
    recorded = [*LCTL, "run", "--output", str(log), str(program)]
    with subprocess.Popen(recorded, env={**os.environ, **environ}, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"waiting\n"
        time.sleep(0.5)  # until it waits
        os.kill(first.pid, signal.SIGINT)
        first.wait(60)
    rerun = run([*LCTL, "rerun", str(log), "--output", str(again)], tmp_path, environ, again)
    assert (rerun.code, rerun.out) == (130, "waiting\ninterrupted\n"), rerun.err
    assert "rerun exact" in rerun.err
