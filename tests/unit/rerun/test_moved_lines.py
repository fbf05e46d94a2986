"""Programs whose lines have moved since they were recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.unit.rerun.commands import Run, Twice

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_READS = """\
import os, random, subprocess, time
print(random.random(), os.environ.get("HOME"))
print(subprocess.run(["echo", "tea"], capture_output=True).stdout)
time.sleep(0.01)
for _ in range(40):
    random.random(); time.time()
try:
    raise ValueError(random.random())
except ValueError as error:
    print(error)
"""


def _places(log: Path) -> list[str]:
    return [str(event.data["place"]) for event in open_log(log).events() if "place" in event.data]


def test_a_comment_above_what_is_read_makes_no_rerun_inexact(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    recorded, _ = twice(_READS)
    moved = "# a comment\n" + _READS.replace(
        "random.random(); time.time()", "random.random()\n    time.time()"
    )
    (tmp_path / "agent.py").write_text(moved)
    again = lctl("rerun", "run.lctl.json", "-o", "again.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "log equal but for line numbers, output equal" in again.stderr
    assert "lines of the program have moved (not counted): agent.py:2 -> agent.py:3, " in again.stderr
    then, now = (_places(tmp_path / f"{name}.lctl.json") for name in ("run", "again"))
    assert [int(place.rpartition(":")[2]) for place in now[:3]] == [
        int(place.rpartition(":")[2]) + 1 for place in then[:3]
    ]
    told = lctl("rerun", "again.lctl.json", "--verify")
    assert told.returncode == 0
    assert "but for line numbers" in told.stdout
    third = lctl("rerun", "again.lctl.json", "--json")
    made = json.loads(third.stdout[third.stdout.index("{") :])
    assert made["ok"]
    assert "moved_lines" not in made


def test_another_module_that_reads_the_same_in_the_same_order(
    twice: Twice, lctl: Run, tmp_path: Path
) -> None:
    recorded, _ = twice("import random\ndef draw():\n    return random.random()\nprint(draw())\n")
    (tmp_path / "drawing.py").write_text("import random\n\n\ndef draw():\n    return random.random()\n")
    (tmp_path / "agent.py").write_text("from drawing import draw\nprint(draw())\n")
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "(not counted): agent.py:3 -> drawing.py:5" in again.stderr


def test_what_is_read_elsewhere_and_otherwise_still_counts(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    twice("import os\nprint(os.environ.get('HOME') is None)\n")
    (tmp_path / "agent.py").write_text("import os\n\nprint(os.environ.get('HOMES') is None)\n")
    again = lctl("rerun", "run.lctl.json")
    assert again.returncode == 1
    assert "HOME" in again.stderr
