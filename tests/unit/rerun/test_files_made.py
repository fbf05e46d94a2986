"""Folders that a program made, and files that it added to: in a rerun they are there by now."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.rerun.commands import Run

pytestmark = [pytest.mark.slow, pytest.mark.interpreter]

_MAKES = """
import os
from pathlib import Path

os.mkdir("ws")
Path("ws/a.txt").write_text("a")
Path("deep/er").mkdir(parents=True)
Path("deep/er").mkdir(parents=True, exist_ok=True)
os.makedirs("deep/er/still", exist_ok=True)
print(os.listdir("ws"), os.listdir("deep"), os.path.exists("ws/b.txt"))
try:
    os.mkdir("ws")
except FileExistsError as error:
    print(error)
Path("ws/b.txt").write_text("b")
Path("ws/a.txt").unlink()
print(sorted(os.listdir("ws")), [entry.name for entry in os.scandir("ws")])
Path("empty").mkdir()
os.rmdir("empty")
os.mkdir("empty")
"""

_ADDS = """
import os
from pathlib import Path

with open("log.txt", "a+") as file:
    print(file.tell())
    file.write("one\\n")
    file.seek(0)
    print(file.read())
with open("log.txt", "a") as file:
    print(file.tell())
low = os.open("low.txt", os.O_RDWR | os.O_CREAT | os.O_APPEND)
os.write(low, b"hello")
os.lseek(low, 0, 0)
print(os.read(low, 100), os.fstat(low).st_size)
os.close(low)
os.close(os.open("a.lock", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
for _ in range(2):
    try:
        with open("x.txt", "x") as file:
            file.write("x")
    except FileExistsError as error:
        print(error)
Path("touched").touch()
print(os.path.getsize("log.txt"), Path("touched").exists())
"""


def _writes_aside_as_recorded(lctl: Run, folder: Path, name: str, out: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if ".lctl" not in path.parts}
    again = lctl("rerun", f"{name}.lctl.json", "--writes", "aside")
    assert (again.returncode, again.stdout) == (0, out), again.stderr
    assert before == {
        path: path.stat().st_mtime_ns for path in folder.rglob("*") if ".lctl" not in path.parts
    }


def test_a_folder_that_was_made_is_made_again(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_MAKES)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0, recorded.stderr
    _writes_aside_as_recorded(lctl, tmp_path, "run", recorded.stdout)


def test_a_program_that_only_makes_folders_needs_no_place_aside(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import os\nos.mkdir('ws')\nprint(os.listdir('ws'))\n")
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    for words in ((), ("--allow", "write")):
        again = lctl("rerun", "run.lctl.json", *words)
        assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
        assert "given as recorded, not as they are now: ws" in again.stderr


def test_what_is_added_to_begins_as_it_was(lctl: Run, tmp_path: Path) -> None:
    """Where nothing was, and where something was that has grown since."""
    (tmp_path / "agent.py").write_text(_ADDS)
    outs = {}
    for name in ("first", "second"):
        run = lctl("run", "-o", f"{name}.lctl.json", "agent.py")
        assert run.returncode == 0, run.stderr
        outs[name] = run.stdout
        (tmp_path / "a.lock").unlink()
        (tmp_path / "x.txt").unlink()
    (tmp_path / "a.lock").touch()
    assert outs["first"] != outs["second"]
    for name, out in outs.items():
        _writes_aside_as_recorded(lctl, tmp_path, name, out)


_MOVES = """
import os, shutil
from pathlib import Path

Path("a.txt").write_text("a")
shutil.move("a.txt", "b.txt")
print(Path("b.txt").read_text(), os.path.exists("a.txt"))
os.makedirs("out/x", exist_ok=True)
Path("out/x/0.txt").write_text("0")
Path("out/1.txt").write_text("1")
shutil.copytree("out", "copied")
print(sorted(os.listdir("copied")), Path("copied/x/0.txt").read_text())
"""


def test_what_is_moved_and_copied_is_so_aside(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_MOVES)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0, recorded.stderr
    _writes_aside_as_recorded(lctl, tmp_path, "run", recorded.stdout)
