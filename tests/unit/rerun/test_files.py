"""Files that the program's own code reads are in its recording, and as they were in its reruns."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.unit.rerun.commands import ASKING, Run, Twice


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(seed=1) as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        yield server


_KEY = "sk-proj-" + "a1B2" * 10

#: As programs keep what they know from run to run.
_REMEMBERS = """
import json, os
known = []
if os.path.exists("memory.json"):
    with open("memory.json") as file:
        known = json.load(file)
print("knows", known)
known.append(len(known))
with open("memory.json", "w") as file:
    json.dump(known, file)
print("keeps", json.load(open("memory.json")))
"""


def _found(log: Path, source: str) -> list[tuple[str, object]]:
    data = [event.data for event in open_log(log).events() if event.data.get("source") == source]
    return [(str(one["key"]), one["value"]) for one in data]


def test_what_a_program_keeps_between_its_runs_is_as_it_was(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    """It finds no file where none was, and writes its own beside the one that is there."""
    recorded, again = twice(_REMEMBERS)
    assert recorded.stdout == "knows []\nkeeps [0]\n"
    kept = tmp_path / "memory.json"
    assert again.returncode == 1
    assert "writing " in again.stderr and "--writes aside" in again.stderr
    kept.write_text("[0, 1, 2]")
    for _ in range(2):
        again = lctl("rerun", "run.lctl.json", "--writes", "aside")
        assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
        assert "\n  written aside, and gone: memory.json\n" in again.stderr
        assert "\n  given as recorded, not as they are now: memory.json (" in again.stderr
        assert kept.read_text() == "[0, 1, 2]"
    now = lctl("rerun", "run.lctl.json", "--writes", "aside", "--files", "now")
    assert (now.returncode, now.stdout) == (1, "knows [0, 1, 2]\nkeeps [0, 1, 2, 3]\n")
    second = lctl("run", "-o", "second.lctl.json", "agent.py")
    assert second.stdout == "knows [0, 1, 2]\nkeeps [0, 1, 2, 3]\n"
    again = lctl("rerun", "second.lctl.json", "--writes", "aside")
    assert (again.returncode, again.stdout) == (0, second.stdout), again.stderr


_READS = """
import configparser, gzip, io, os, pathlib, sys
from pathlib import Path

with open("notes.txt", encoding="latin-1", newline="") as file:
    print(repr(file.name), file.mode, file.encoding, file.seekable(), repr(file.readline()), file.tell())
    file.seek(1)
    print(repr(file.read()))
with open(b"data.bin", "rb", buffering=0) as raw:
    print(type(raw).__name__, raw.name, raw.read(), raw.fileno() > 2)
path = Path("data.bin").absolute()
print(path.read_bytes(), path.exists(), path.is_file(), path.stat().st_size, os.path.getsize(path))
print(path.stat().st_mtime_ns, os.path.getmtime(path) == path.stat().st_mtime, path.stat().st_mode & 0o170000)
print(gzip.open("old.gz").read(), [line for line in io.open("notes.txt", encoding="latin-1")])
parser = configparser.ConfigParser()
print(parser.read(["settings.ini", "nothing.ini"]), parser["a"]["b"])
for read in (lambda: open("nothing"), lambda: os.stat("nothing"), lambda: os.path.getsize("nothing")):
    try:
        read()
    except FileNotFoundError as error:
        print(error, error.filename, error.errno)
try:
    open("folder")
except IsADirectoryError as error:
    print(error)
print(os.path.isdir("folder"), os.path.exists("folder"), os.path.isfile("folder"))
open(os.devnull).close()
"""


def test_files_are_given_as_open_and_stat_give_them(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    import gzip

    files = {
        "notes.txt": "gr\xfc\xdfe\r\nzwei\n".encode("latin-1"),
        "data.bin": bytes(range(9)),
        "old.gz": gzip.compress(b"old", mtime=0),
        "settings.ini": b"[a]\nb = c\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        os.utime(tmp_path / name, ns=(0, 1_234_567_891_012_345_678))
    (tmp_path / "folder").mkdir()
    recorded, again = twice(_READS)
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "not as they are now" not in again.stderr
    for name in files:
        (tmp_path / name).unlink()
    (tmp_path / "nothing").write_text("something")
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "given as recorded, not as they are now: notes.txt, data.bin, old.gz and 2 more" in again.stderr
    for name in files:
        (tmp_path / name).write_bytes(b"something else")
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.slow
def test_what_is_kept_of_them(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    """No secrets, nothing large, and nothing that a tool or a library has read."""
    (tmp_path / "key.env").write_text(f"OPENAI_API_KEY={_KEY}\n")
    (tmp_path / ".env.local").write_text("short=x1y2")
    (tmp_path / "large.txt").write_text("x" * 300_000)
    (tmp_path / "small.txt").write_text("small")
    (tmp_path / "tool.txt").write_text("a tool's")
    recorded, again = twice("""
import json, linecache, lctl
print(len(open("key.env").read()), len(open("large.txt").read()), len(open(".env.local").read()))
print(open("small.txt").read(), open("small.txt").read())
@lctl.tool
def look() -> str:
    return open("tool.txt").read()
print(look(), linecache.getline("small.txt", 1))
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    log = tmp_path / "run.lctl.json"
    assert _KEY.encode() not in log.read_bytes() and b"x1y2" not in log.read_bytes()
    found = _found(log, "file")
    assert [key for key, _ in found] == ["key.env", "large.txt", ".env.local", "small.txt", "small.txt"]
    kept = [sorted(dict(value)) for _, value in found]  # type: ignore[call-overload]
    assert kept == [["size"], ["hash", "size"], ["size"], ["blob", "size"], ["blob", "size"]]
    assert sum(event.type == "blob" for event in open_log(log).events()) == 1
    (tmp_path / "large.txt").write_text("y" * 300_000)
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    (tmp_path / "large.txt").write_text("y")
    again = lctl("rerun", "run.lctl.json")
    assert "opened, and written since the recording began: large.txt (not on the tape: " in again.stderr
    assert again.returncode == 1


def test_they_can_be_left_out(python: Run, lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import time\nprint(open('notes.txt').read(), time.time())\n")
    (tmp_path / "notes.txt").write_text("notes")
    recorded = lctl("run", "--no-files", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout.startswith("notes ")
    assert _found(tmp_path / "run.lctl.json", "file") == []
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.slow
def test_a_fork_reads_them_as_they_were_up_to_its_event(
    server: ModelServer, lctl: Run, tmp_path: Path
) -> None:
    """And behind it as they are."""
    (tmp_path / "agent.py").write_text(
        f"{ASKING}\nfor n in range(3):\n    text = open('notes.txt').read()\n    print(text)\n"
        "    answer([{'role': 'user', 'content': f'{n} {text}'}])\n"
    )
    notes = tmp_path / "notes.txt"
    notes.write_text("then")
    assert lctl("run", "-o", "run.lctl.json", "agent.py").stdout == "then\n" * 3
    notes.write_text("now")
    events = list(open_log(tmp_path / "run.lctl.json").events())
    asked = [event.seq for event in events if event.type == "step_start"]
    answered = next(event.seq for event in events if event.type == "step_end")
    assert answered < asked[1]
    forked = lctl("fork", "run.lctl.json", "--at", str(answered))
    assert forked.stdout == "then\nthen\nnow\n", forked.stderr
    assert server.requests[-1].body["messages"][0]["content"] == "2 now"
    forked = lctl("fork", "run.lctl.json", "--at", str(answered), "--files", "now")
    assert forked.stdout == "now\n"
    assert "this call is not the recorded one" in forked.stderr


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
def test_two_runs_on_another_file_differ_in_that(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("print(len(open('notes.txt').read()))\n")
    for name, text in (("one", "same size"), ("two", "size same")):
        (tmp_path / "notes.txt").write_text(text)
        lctl("run", "-o", f"{name}.lctl.json", "agent.py")
    assert "no difference" in lctl("diff", "one.lctl.json", "one.lctl.json").stdout.lower()
    assert "notes.txt" in lctl("diff", "one.lctl.json", "two.lctl.json").stdout
    assert "notes.txt (9 bytes)" in lctl("replay", "one.lctl.json").stdout


@pytest.mark.slow
def test_the_program_sees_nothing_of_it(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("""
import builtins, io, os, pickle, shutil, tempfile, traceback
assert builtins.open is io.open and open.__name__ == "open" and pickle.loads(pickle.dumps(open)) is open
assert os.stat in os.supports_follow_symlinks and os.stat in os.supports_fd
assert shutil.rmtree.avoids_symlink_attacks
class Opens:
    open = open
assert Opens().open(os.devnull).read() == ""
asked = ("nothing", "a\\0b", 7.5)
for read in [*(lambda one=one: open(one) for one in asked), *(lambda one=one: os.stat(one) for one in asked)]:
    try:
        read()
    except (OSError, ValueError, TypeError):
        assert "lctl" not in traceback.format_exc(), traceback.format_exc()
with tempfile.NamedTemporaryFile("w+") as one, tempfile.TemporaryDirectory() as folder:
    print(one.name, folder)
""")
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.returncode == 0, recorded.stderr
    for words in ([], ["--writes", "aside"]):
        again = lctl("rerun", "run.lctl.json", *words)
        assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


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


@pytest.mark.slow
def test_a_program_may_lie_elsewhere_in_a_rerun(
    lctl: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """As on another machine: files beside it are known by where it is."""
    first, second = (tmp_path_factory.mktemp("machine") / "project" for _ in range(2))
    for folder, text in ((first, "then"), (second, "now")):
        folder.mkdir()
        (folder / "agent.py").write_text(
            "from pathlib import Path\nprint((Path(__file__).parent / 'notes.txt').read_text())\n"
        )
        (folder / "notes.txt").write_text(text)
    assert lctl("run", "-o", "run.lctl.json", str(first / "agent.py")).stdout == "then\n"
    assert [key for key, _ in _found(tmp_path / "run.lctl.json", "file")] == ["program:notes.txt"]
    again = lctl("rerun", "run.lctl.json", "--", sys.executable, str(second / "agent.py"))
    assert (again.returncode, again.stdout) == (0, "then\n"), again.stderr
    assert f"given as recorded, not as they are now: {second / 'notes.txt'}" in again.stderr


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
    "look", ["os.path.exists('storage')", "os.path.isdir('storage')", "pathlib.Path('storage').is_dir()"]
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


_CHATS = """
import os, sqlite3, threading
from sqlite3 import dbapi2

def said(path, text):
    with sqlite3.connect(path, timeout=1.0) as db:
        db.execute("CREATE TABLE IF NOT EXISTS said (text TEXT)")
        found = [row[0] for row in db.execute("SELECT text FROM said ORDER BY rowid")]
        db.execute("INSERT INTO said VALUES (?)", (text,))
    db.close()
    return found

print(os.path.exists("chat.db"), said("chat.db", "hello"), said("chat.db", "again"))
thread = threading.Thread(target=lambda: print(said(os.path.abspath("chat.db"), "in a thread")))
thread.start()
thread.join()
memory = dbapi2.connect(":memory:")
print(memory.execute("SELECT 1").fetchone(), len(said("old.db", "more")))
"""


@pytest.mark.slow
def test_databases_are_what_they_were_for_those_that_write_aside(lctl: Run, tmp_path: Path) -> None:
    """Each of the runs before has said something in it; and one is too large to be kept, and as it is now."""
    old = sqlite3.connect(tmp_path / "old.db")
    old.execute("CREATE TABLE said (text TEXT)")
    old.executemany("INSERT INTO said VALUES (?)", [(f"{n} " * 1000,) for n in range(600)])
    old.commit()
    old.close()
    (tmp_path / "agent.py").write_text(_CHATS)
    runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
    assert [run.returncode for run in runs] == [0, 0], runs
    assert "False [] ['hello']" in runs[0].stdout
    assert "True ['hello', 'again', 'in a thread'] " in runs[1].stdout
    found = [dict(_found(tmp_path / f"{name}.lctl.json", "database")) for name in ("first", "second")]
    assert [sorted(one) for one in found] == [["chat.db", "old.db"]] * 2
    assert found[0]["chat.db"] is None and "blob" in dict(found[1]["chat.db"])  # type: ignore[call-overload]
    before = (tmp_path / "chat.db").read_bytes()
    for name, run in zip(("first", "second"), runs, strict=True):
        again = lctl("rerun", f"{name}.lctl.json")
        assert again.returncode == 1
        assert "opening the database" in again.stderr and "--writes aside" in again.stderr
        again = lctl("rerun", f"{name}.lctl.json", "--writes", "aside")
        assert again.stdout.splitlines()[:2] == run.stdout.splitlines()[:2], again.stderr
        assert "written aside, and gone: chat.db, old.db\n" in again.stderr
        assert (tmp_path / "chat.db").read_bytes() == before
    assert again.returncode == 1  # of what was said in the larger one nothing is known


_LISTS = """
import glob, os
from pathlib import Path
print(os.listdir("inbox"), os.listdir(b"inbox"), [path.name for path in Path("inbox").iterdir()])
for entry in os.scandir("inbox"):
    print(entry.name, entry.path, os.fspath(entry), entry.is_dir(), entry.is_file(), entry.is_symlink())
with os.scandir(Path("inbox")) as entries:
    print([entry.name for entry in entries])
print(glob.glob("inbox/*.txt"), [str(path) for path in Path("inbox").rglob("*.txt")])
print([(folder, folders, files) for folder, folders, files in os.walk("inbox")])
for name in sorted(os.listdir("inbox")):
    path = os.path.join("inbox", name)
    if os.path.isfile(path):
        print(open(path).read())
try:
    os.listdir("nothing")
except FileNotFoundError as error:
    print(error)
assert len(os.listdir()) == len(os.listdir(os.getcwd()))
"""


def test_folders_hold_what_they_held_in_the_same_order(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    """Also where another program has taken it away meanwhile, or put something there."""
    inbox = tmp_path / "inbox"
    (inbox / "deep").mkdir(parents=True)
    for name in ("b.txt", "a.txt", "c.md", "deep/d.txt"):
        (inbox / name).write_text(f"in {name}")
    recorded, again = twice(_LISTS)
    assert recorded.stdout.count("in ") == 3
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "not as they are now" not in again.stderr
    (inbox / "a.txt").rename(tmp_path / "done.txt")
    (inbox / "new.txt").write_text("new")
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    assert "given as recorded, not as they are now: " in again.stderr and "inbox/a.txt" in again.stderr
    for path in (*inbox.glob("*.*"), inbox / "deep" / "d.txt"):
        path.unlink()
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.slow
def test_what_lies_among_temporary_files_is_as_it_was(
    lctl: Run, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rerun has a folder of its own for them."""
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    data = temporary / "data.txt"
    data.write_text("then")
    (tmp_path / "agent.py").write_text(
        f"import tempfile\nprint(open({str(data)!r}).read())\n"
        "with tempfile.NamedTemporaryFile('w+') as file:\n"
        "    file.write('text')\n    file.flush()\n    print(open(file.name).read())\n"
    )
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout == "then\ntext\n"
    assert _found(tmp_path / "run.lctl.json", "file")[0][0] == "tmp:data.txt"
    data.write_text("now")
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.slow
def test_children_read_theirs(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("then")
    recorded, again = twice("""
import os, subprocess, sys
print(open("notes.txt").read(), flush=True)
code = "print(open('notes.txt').read() + ' of a child')"
print(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True).stdout)
""")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    (tmp_path / "notes.txt").write_text("now")
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr


@pytest.mark.slow
def test_a_certificate_tells_of_them(twice: Twice, lctl: Run, tmp_path: Path) -> None:
    twice(_REMEMBERS)
    told = json.loads(lctl("rerun", "run.lctl.json", "--writes", "aside", "--json").stdout)
    assert told["files"] == told["aside"] == [str(tmp_path / "memory.json")]
    assert "changed" not in told
