"""Files that the program's own code reads are in its recording, and as they were in its reruns."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.testing import ModelServer
from tests.unit.rerun.commands import ASKING, Run, Twice, found

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
    reads = found(log, "file")
    assert [key for key, _ in reads] == ["key.env", "large.txt", ".env.local", "small.txt", "small.txt"]
    kept = [sorted(dict(value)) for _, value in reads]  # type: ignore[call-overload]
    assert kept == [["size"], ["hash", "size"], ["size"], ["blob", "size"], ["blob", "size"]]
    assert sum(event.type == "blob" for event in open_log(log).events()) == 1
    (tmp_path / "large.txt").write_text("y" * 300_000)
    again = lctl("rerun", "run.lctl.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    (tmp_path / "large.txt").write_text("y")
    again = lctl("rerun", "run.lctl.json")
    assert "opened, and written since the recording began: large.txt (not on the tape: " in again.stderr
    assert again.returncode == 1


@pytest.mark.slow
def test_what_browsers_and_others_keep_secrets_in_is_not_kept(twice: Twice, tmp_path: Path) -> None:
    paths = (
        "Cookies",
        "logins.json",
        "cookies.sqlite",
        ".docker/config.json",
        "Keychains/a.db",
        "cookies of ours",
    )
    for path in paths:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(f"in {path}")
    twice(f"for path in {paths}:\n    print(open(path).read())\n")
    kept = {key: sorted(dict(value)) for key, value in found(tmp_path / "run.lctl.json", "file")}  # type: ignore[call-overload]
    assert kept == {path: ["size"] for path in paths[:-1]} | {paths[-1]: ["blob", "size"]}


def test_they_can_be_left_out(python: Run, lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import time\nprint(open('notes.txt').read(), time.time())\n")
    (tmp_path / "notes.txt").write_text("notes")
    recorded = lctl("run", "--no-files", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout.startswith("notes ")
    assert found(tmp_path / "run.lctl.json", "file") == []
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
asked = ("nothing", "a\\0b", "a\\ud800b", b"a\\xffb", 7.5)
assert not any(os.path.exists(one) for one in asked[:-1])
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
    assert [key for key, _ in found(tmp_path / "run.lctl.json", "file")] == ["program:notes.txt"]
    again = lctl("rerun", "run.lctl.json", "--", sys.executable, str(second / "agent.py"))
    assert (again.returncode, again.stdout) == (0, "then\n"), again.stderr
    assert f"given as recorded, not as they are now: {second / 'notes.txt'}" in again.stderr


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
    assert found(tmp_path / "run.lctl.json", "file")[0][0] == "tmp:data.txt"
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
