"""What programs write in reruns that have them write aside: it is there for them, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.unit.rerun.commands import ASKING, Run, Twice, again_aside

_WRITES = """
import json, os, shutil, tempfile
from pathlib import Path

out = Path("out/deep")
if not os.path.exists("out"):
    os.makedirs(out)
with open(out / "a.csv", "w", newline="") as file:
    file.write("1,2\\n")
with open(out / "a.csv", "a") as file:
    file.write("3,4\\n")
print((out / "a.csv").read_text(), os.path.getsize(out / "a.csv"), os.listdir(out))
print(list(Path("out").glob("**/*.csv")))
draft = out / "b.json.tmp"
draft.write_text(json.dumps({"x": 1}))
os.replace(draft, out / "b.json")
print(json.loads((out / "b.json").read_text()), draft.exists(), sorted(os.listdir(out)))
shutil.copy(out / "b.json", out / "c.json")
(out / "b.json").unlink()
(out / "touched").touch()
with tempfile.NamedTemporaryFile("w", dir=out, delete=False) as file:
    file.write("t")
os.rename(file.name, out / "renamed")
print(sorted(os.listdir(out)), sorted(entry.name for entry in os.scandir(out)))
print(os.path.isfile(out / "renamed"))
print([(str(folder), sorted(names)) for folder, _, names in os.walk("out")])
with open("notes.txt", "r+") as file:
    file.write("N")
with open("log.txt", "a") as file:
    file.write("line\\n")
os.remove("old.txt")
print(Path("notes.txt").read_text(), Path("log.txt").read_text(), os.path.exists("old.txt"))
for path in ("nowhere/x", "out"):
    try:
        open(path, "w")
    except OSError as error:
        print(error, error.filename)
"""


def test_what_is_written_aside_is_there_for_the_program_alone(
    twice: Twice, lctl: Run, tmp_path: Path
) -> None:
    import shutil

    files = {"notes.txt": "notes", "log.txt": "before\n", "old.txt": "old"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    recorded, again = twice(_WRITES)
    assert again.returncode == 1
    shutil.rmtree(tmp_path / "out")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    before = sorted(path for path in tmp_path.rglob("*") if ".lctl" not in path.parts)
    again = lctl("rerun", "run.lctl.json", "--writes", "aside")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert sorted(path for path in tmp_path.rglob("*") if ".lctl" not in path.parts) == before
    assert {name: (tmp_path / name).read_text() for name in files} == files


_BUILDS = """
import json, os, pathlib, time
if not {look}:
    os.makedirs("storage/deep")
    {make}
    pathlib.Path("storage/index.json").write_text(json.dumps(time.time()))
    print("built")
print(json.loads(pathlib.Path("storage/index.json").read_text()), os.path.isdir("storage"), {look})
os.makedirs("storage", exist_ok=True)
"""


@pytest.mark.parametrize(
    "look",
    [
        pytest.param("os.path.exists('storage')", marks=pytest.mark.slow),
        pytest.param("os.path.isdir('storage')", marks=pytest.mark.slow),
        "pathlib.Path('storage').is_dir()",
    ],
)
def test_a_folder_that_the_program_makes_is_made_again(look: str, lctl: Run, tmp_path: Path) -> None:
    """As those that keep an index, and build it where there is none: it is there by now."""
    program = _BUILDS.format(look=look, make="pathlib.Path('storage/other').mkdir()")
    (tmp_path / "agent.py").write_text(program)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout.startswith("built\n"), recorded.stderr
    for _ in range(2):
        again = lctl("rerun", "run.lctl.json", "--writes", "aside")
        assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
        assert "given as recorded, not as they are now: storage" in again.stderr
    kept = lctl("run", "-o", "second.lctl.json", "agent.py")
    assert "built" not in kept.stdout
    again = lctl("rerun", "second.lctl.json", "--writes", "aside")
    assert (again.returncode, again.stdout) == (0, kept.stdout), again.stderr


_FRESH = """
import os, pathlib, shutil, sqlite3
if os.path.exists("store"):
    shutil.rmtree("store")
    print("fresh")
    try:
        shutil.rmtree("store")
    except FileNotFoundError:
        print(os.path.exists("store/a.txt"), "store" in os.listdir())
folder = pathlib.Path("store", "deep")
folder.mkdir(parents=True)
print(os.listdir("store"), list(folder.iterdir()))
(folder / "a.txt").write_text("a")
db = sqlite3.connect("store/kept.db")
db.execute("CREATE TABLE said (text)")
db.close()
print(sorted(os.listdir("store")), [str(path) for path in pathlib.Path("store").rglob("*.txt")])
shutil.rmtree(folder)
shutil.rmtree("nowhere", ignore_errors=True)
print(sorted(os.listdir("store")), os.path.exists(folder / "a.txt"), shutil.rmtree.avoids_symlink_attacks)
"""


@pytest.mark.slow
def test_a_folder_that_is_removed_and_made_anew(lctl: Run, tmp_path: Path) -> None:
    """As by those that begin with an empty store each time."""
    (tmp_path / "agent.py").write_text(_FRESH)
    runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
    assert [run.returncode for run in runs] == [0, 0], runs
    assert "fresh\nFalse False\n['deep'] []\n" in runs[1].stdout
    assert "['deep', 'kept.db'] ['store/deep/a.txt']\n['kept.db'] False True\n" in runs[1].stdout
    (tmp_path / "store" / "of-now.txt").write_text("of now")
    before = sorted(str(path) for path in (tmp_path / "store").rglob("*"))
    again_aside(lctl, runs)
    assert sorted(str(path) for path in (tmp_path / "store").rglob("*")) == before


_KEEPING = """
import os, zipfile
import numpy as np

x = np.load("state.npy") if os.path.exists("state.npy") else np.zeros(3)
print(x)
np.save("state.npy", x + np.random.rand(3))
np.savetxt("state.txt", x)
print(np.load("state.npy"), np.loadtxt("state.txt"))
with zipfile.ZipFile("kept.zip", "a") as kept:
    kept.writestr(f"{len(kept.namelist())}.txt", "one more")
print(zipfile.ZipFile("kept.zip").namelist())
"""


@pytest.mark.slow
def test_a_folder_that_is_there_stays_whatever_is_done_to_it(lctl: Run, tmp_path: Path) -> None:
    """Its mode and times are set, a file without a name is made in it: what it holds is there."""
    (tmp_path / "kept").mkdir(mode=0o755)
    (tmp_path / "kept" / "a.txt").write_text("a")
    (tmp_path / "agent.py").write_text("""
import os
os.chmod("kept", 0o755)
os.utime("kept")
for flags in (os.O_RDWR, os.O_RDWR | getattr(os, "O_TMPFILE", 0)):
    try:
        os.close(os.open("kept", flags))
    except OSError as error:
        print(error)
with open("kept/lock", "x") as file:
    file.write("1")
print(sorted(os.listdir("kept")), open("kept/a.txt").read(), open("kept/lock").read())
os.mkdir("kept/made")
print(os.statvfs("kept/made").f_namemax if hasattr(os, "statvfs") else "")
os.rmdir("kept/made")
os.remove("kept/lock")
""")
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert "['a.txt', 'lock'] a 1" in recorded.stdout, recorded.stderr
    times = (tmp_path / "kept").stat().st_mtime_ns
    again = lctl("rerun", "run.lctl.json", "--writes", "aside")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert (tmp_path / "kept").stat().st_mtime_ns == times


_MOVING = """
import os, time
print(time.time() > 0)
os.rename("kept", "moved")
os.rename("moved", "kept")
"""


@pytest.mark.slow
def test_a_folder_of_the_world_is_not_moved(lctl: Run, tmp_path: Path) -> None:
    """What it holds is nowhere aside: that it is refused is said, and not that there is none."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "agent.py").write_text(_MOVING)
    assert lctl("run", "-o", "run.lctl.json", "agent.py").returncode == 0
    again = lctl("rerun", "run.lctl.json", "--writes", "aside")
    assert again.returncode != 0
    assert "kept is refused" in again.stderr
    assert "No such file" not in again.stderr
    assert (tmp_path / "kept").is_dir()


@pytest.mark.slow
def test_what_libraries_read_for_the_program(lctl: Run, tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="needs: pip install 'lctl[test]'")
    (tmp_path / "agent.py").write_text(_KEEPING)
    runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
    assert "['0.txt']" in runs[0].stdout and "['0.txt', '1.txt']" in runs[1].stdout, runs
    again_aside(lctl, runs)


@pytest.mark.slow
def test_a_fork_writes_aside_up_to_its_event(server: ModelServer, lctl: Run, tmp_path: Path) -> None:
    """Behind it what it writes anew goes where it belongs, and what it adds to goes on aside."""
    (tmp_path / "agent.py").write_text(
        f"{ASKING}\nfor n in range(3):\n"
        "    with open('log.txt', 'a') as file:\n        file.write(f'{n}')\n"
        "    with open('state.txt', 'w') as file:\n        file.write(f'{n}')\n"
        "    print(open('log.txt').read(), open('state.txt').read())\n"
        "    answer([{'role': 'user', 'content': f'{n}'}])\n"
    )
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout == "0 0\n01 1\n012 2\n"
    for name in ("log.txt", "state.txt"):
        (tmp_path / name).write_text("")
    events = open_log(tmp_path / "run.lctl.json").events()
    answered = next(event.seq for event in events if event.type == "step_end")
    forked = lctl("fork", "run.lctl.json", "--at", str(answered), "--writes", "aside")
    assert forked.stdout == recorded.stdout, forked.stderr
    assert "written aside, and gone: log.txt\n" in forked.stderr
    assert [(tmp_path / name).read_text() for name in ("log.txt", "state.txt")] == ["", "2"]


@pytest.mark.slow
def test_each_rerun_in_one_process_begins_anew(lctl: Run, python: Run, tmp_path: Path) -> None:
    """What one block was told of folders and databases is over with it."""
    (tmp_path / "work.py").write_text(
        "import os, sqlite3\n"
        "def work():\n"
        "    if not os.path.exists('store'):\n"
        "        os.mkdir('store')\n"
        "    db = sqlite3.connect('kept.db')\n"
        "    db.execute('CREATE TABLE IF NOT EXISTS t (a)')\n"
        "    db.execute('INSERT INTO t VALUES (1)')\n"
        "    db.commit()\n"
        "    print(db.execute('SELECT count(*) FROM t').fetchone()[0])\n"
        "    db.close()\n"
    )
    (tmp_path / "agent.py").write_text("import work\nwork.work()\n")
    assert lctl("run", "-o", "run.lctl.json", "agent.py").stdout == "1\n"
    (tmp_path / "again.py").write_text(
        "import os, lctl\nlctl.auto_instrument(record='full')\nimport work\n"
        "for n in range(2):\n"
        "    with lctl.rerun('run.lctl.json', writes='aside', output=f'{n}.lctl.json'):\n"
        "        work.work()\n"
        "try:\n"
        "    os.mkdir('store')\n"
        "except FileExistsError:\n"
        "    print('there')\n"
    )
    again = python("again.py")
    assert again.stdout == "1\n1\nthere\n", again.stderr


_AGENT = """
import os, pathlib, random, subprocess, sys

os.makedirs("work", exist_ok=True)
pathlib.Path("work/helper.py").write_text("def told(n): return f'told {n}'")
for n in range(2):
    pathlib.Path("work/sol.py").write_text(f'''
import os, random, sys, helper
print({n}, {random.random()}, random.random(), helper.told({n}), sys.argv, __name__)
print(os.path.basename(__file__), os.path.isabs(__file__), os.path.basename(sys.path[-1]))
sys.exit({n})
''')
    words = [sys.executable, "-u", "sol.py" if n else "work/sol.py", "a", "-c"]
    print(subprocess.run(words, capture_output=True, text=True, cwd="work" if n else None))
print(subprocess.run(["echo", "said"], capture_output=True, text=True).stdout)
"""


@pytest.mark.slow
def test_a_script_that_the_program_writes_and_has_run(lctl: Run, tmp_path: Path) -> None:
    """It is the one that was written, each time, under its own name; what lies there is the last one."""
    (tmp_path / "agent.py").write_text(_AGENT)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0 and recorded.stdout.count("told") == 2, recorded
    kept = (tmp_path / "work/sol.py").read_text()
    again = lctl("rerun", "run.lctl.json", "--writes", "aside")
    assert (again.returncode, again.stdout) == (recorded.returncode, recorded.stdout), again.stderr
    assert "not exact" not in again.stderr
    assert (tmp_path / "work/sol.py").read_text() == kept
