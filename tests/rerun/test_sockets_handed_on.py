"""What a program does with sockets of its own is what it does without lctl."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.rerun.harness import LCTL, PROGRAMS, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("by", ["lctl run", "auto_instrument"])
def test_they_go_to_processes_and_to_trio(by: str, tmp_path: Path) -> None:
    words = ["trio"] if importlib.util.find_spec("trio") else []
    program, log = PROGRAMS / "sockets_handed_on.py", tmp_path / "sockets.lctl.json"
    plain = run([sys.executable, str(program), *words], tmp_path, {}, log)
    assert plain.code == 0, plain.err
    if by == "lctl run":
        command = [*LCTL, "run", "-o", str(log), str(program), *words]
    else:
        told = tmp_path / "told.py"
        told.write_text(f"import lctl\nlctl.auto_instrument()\n{program.read_text()}")
        command = [sys.executable, str(told), *words]
    recorded = run(command, tmp_path, {"LCTL_QUIET": "1", "LCTL_STRICT": "1"}, log)
    assert (recorded.code, recorded.out, recorded.err) == (0, plain.out, plain.err)
