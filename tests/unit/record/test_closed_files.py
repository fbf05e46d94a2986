"""A program that closes all files it does not know, as it does that becomes a daemon."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="handles are not numbered there")

_PROGRAM = """
import os, sys
import lctl

path, durability, last = sys.argv[1:]
session = lctl.LCTLSession(path=path, durability=durability)
session.add_fact("before", "x")
session.store.flush()
os.closerange(3, 4096)
files = [open(f"own-{n}.txt", "w+") for n in range(40)]
if last == "more":
    for n in range(3):
        session.add_fact(f"after-{n}", "x")
for file in files:
    file.write("mine")
session.close()
for file in files:
    file.close()
"""


@pytest.mark.parametrize("last", ["more", "nothing"])
@pytest.mark.parametrize("durability", ["process", "power", "buffered"])
def test_its_recording_goes_on_and_its_files_are_its_own(tmp_path: Path, durability: str, last: str) -> None:
    """What it opens next may have the number that the log had: nothing of ours goes there."""
    path = tmp_path / "run.lctl.json"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("LCTL_")}
    command = [sys.executable, "-c", _PROGRAM, str(path), durability, last]
    done = subprocess.run(
        command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {file.read_text() for file in tmp_path.glob("own-*.txt")} == {"mine"}
    log = open_log(path)
    facts = [event.data["id"] for event in log.events() if event.type == "fact_added"]
    assert facts == ["before", *(f"after-{n}" for n in range(3 if last == "more" else 0))]
    assert log.tail is not None and not log.problems
