"""Installed packages that work with models for the program: files, commands and dates of theirs in reruns."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.session import actinglibraries
from tests.unit.rerun.commands import Run, again_aside, found

pytestmark = pytest.mark.slow

_LIBRARY = """\
import json
import os
import subprocess
import time
from datetime import datetime


class Notes:
    def __init__(self, folder):
        self.path = os.path.join(folder, "notes.json")
        if not os.path.exists(folder):
            os.makedirs(folder)
        self.rows = json.load(open(self.path)) if os.path.exists(self.path) else []

    def add(self, text):
        self.rows.append({"text": text, "at": str(datetime.now())})
        with open(self.path, "w") as file:
            json.dump(self.rows, file)

    def shell(self, line):
        began = time.time()
        done = subprocess.run(line, shell=True, capture_output=True, text=True)
        return done.stdout, done.returncode, time.time() - began
"""

_AGENT = """
import os
import sys

sys.prefix = sys.base_prefix = os.getcwd()  # Debian's Python is in /usr, as programs may be: /usr/src/app
sys.path.insert(0, "site-packages")
from agent_notes import Notes

notes = Notes("kept")
print(notes.rows)
notes.add("one")
print(notes.shell("echo said; echo again >> world.txt; exit 3"), notes.rows)
"""


def _install(folder: Path, requires: str) -> None:
    place = folder / "site-packages"
    (place / "agent_notes").mkdir(parents=True)
    (place / "agent_notes" / "__init__.py").write_text(_LIBRARY)
    about = place / "the_agent.notes-1.0.dist-info"
    about.mkdir()
    about.joinpath("METADATA").write_text(
        f"Name: the-agent.notes\nVersion: 1.0\n{requires}\n\nRequires-Dist: openai\n"
    )
    about.joinpath("RECORD").write_text("agent_notes/__init__.py,,\n")
    (folder / "agent.py").write_text(_AGENT)


@pytest.mark.parametrize("more", ["", "Requires-Dist: rich\n"])
def test_what_they_keep_run_and_date_is_as_recorded(lctl: Run, tmp_path: Path, more: str) -> None:
    """The second run finds what the first has left; in reruns of both that is gone on from since."""
    _install(tmp_path, f"{more}Requires-Dist: openai>=1")
    runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
    assert ["one" in run.stdout.partition("\n")[0] for run in runs] == [False, True], runs[0].stderr
    [(line, _)] = found(tmp_path / "first.lctl.json", "command")
    assert line.startswith("echo said")
    kept = (tmp_path / "kept" / "notes.json").read_text()
    again_aside(lctl, runs)
    assert (tmp_path / "world.txt").read_text() == "again\n" * 2
    assert (tmp_path / "kept" / "notes.json").read_text() == kept


@pytest.mark.parametrize("requires", ["Requires-Dist: rich", "Requires-Dist: openai; extra == 'models'"])
def test_of_other_libraries_nothing_is_recorded(lctl: Run, tmp_path: Path, requires: str) -> None:
    _install(tmp_path, requires)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0, recorded.stderr
    log = tmp_path / "run.lctl.json"
    assert not any(found(log, source) for source in ("command", "file", "there", "made", "logged"))


def test_what_is_in_no_folder_is_none(tmp_path: Path) -> None:
    """A zip archive of packages, or a folder that is gone: the program's read of a clock in there goes on."""
    place = tmp_path / "site-packages"
    place.write_bytes(b"PK")
    assert not actinglibraries.is_one(str(place / "agent_notes" / "__init__.py"))
    assert not actinglibraries.is_one(str(tmp_path / "gone" / "site-packages" / "noted.py"))
