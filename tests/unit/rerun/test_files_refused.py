"""What the system refuses of files: in a rerun it does so in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.rerun.commands import Run, Twice

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_NOTHING = """
import os
print(os.path.exists("nope"))
for function in (os.rename, os.replace):
    try:
        function("nope", "other")
    except OSError as error:
        print(type(error).__name__, error)
"""

_REFUSED = """
import os
from pathlib import Path

os.makedirs("q/d", exist_ok=True)
Path("q/a").write_text("a")
Path("new.tmp").write_text("a")
os.rmdir("q/d")
os.mkdir(b"q/d")
tries = (
    lambda: os.mkdir("q/d"),
    lambda: Path("q/d").mkdir(),
    lambda: os.rmdir("q"),
    lambda: os.rmdir("q/a"),
    lambda: os.remove("q/none"),
    lambda: os.remove(b"q/none"),
    lambda: os.stat("q/none"),
    lambda: os.rename("q/a", "q/none/b"),
    lambda: os.rename("q/none", "q/b"),
    lambda: os.truncate("q/none", 1),
    lambda: os.open("q/d", os.O_WRONLY),
    lambda: os.open("q/a", os.O_CREAT | os.O_EXCL | os.O_WRONLY),
    lambda: Path("q/a").touch(exist_ok=False),
    lambda: open("q/none", "r+"),
    lambda: Path("new").read_text(),
)
for one in tries:
    try:
        one()
        print("done")
    except OSError as error:
        print(type(error).__name__, error, error.filename, error.filename2)
os.rename("new.tmp", "new")
"""


def test_what_is_not_there_cannot_be_moved(twice: Twice, lctl: Run) -> None:
    """Nothing would be: so that is no side effect, and the program hears of it what it heard."""
    recorded, again = twice(_NOTHING)
    assert recorded.stdout.count("FileNotFoundError") == 2
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    aside = lctl("rerun", "run.lctl.json", "--writes", "aside")
    assert (aside.returncode, aside.stdout) == (0, recorded.stdout), aside.stderr


def test_errors_of_files_written_aside_name_them_as_the_program_does(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_REFUSED)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0, recorded.stderr
    assert "done" not in recorded.stdout
    again = lctl("rerun", "run.lctl.json", "--writes", "aside")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
