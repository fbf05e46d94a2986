"""A forked child that sends its parent a signal: the parent's number is the recorded one in a rerun."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, rerun

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and sends signals"),
]

_TELLS = """
import os, signal, sys, time
heard = []
signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
mine = os.getpid()
child = os.fork()
if child == 0:
    time.sleep(0.2)
    os.kill(os.getppid(), signal.SIGUSR1)
    os._exit(3 + (os.getppid() != mine))
while not heard:
    time.sleep(0.05)
_, status = os.waitpid(child, 0)
print(len(heard), os.waitstatus_to_exitcode(status))
"""


def test_it_reaches_the_parent_of_now(tmp_path: Path) -> None:
    program, log = tmp_path / "agent.py", tmp_path / "agent.lctl.json"
    program.write_text(_TELLS)
    first = subprocess.run(
        [*LCTL, "run", "--output", str(log), str(program)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert first.stdout == "1 3\n", first.stderr
    for _ in range(2):
        again = rerun(log, tmp_path, timeout=60)
        assert (again.out, "ProcessLookupError" in again.err) == ("1 3\n", False), again.err
        assert again.code == 0, again.err
