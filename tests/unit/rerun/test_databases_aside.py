"""Databases in reruns that write aside: they are what they were."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.unit.rerun.commands import Run, again_aside, found

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
    states = [dict(found(tmp_path / f"{name}.lctl.json", "database")) for name in ("first", "second")]
    assert [sorted(one) for one in states] == [["chat.db", "old.db"]] * 2
    assert states[0]["chat.db"] is None and "blob" in dict(states[1]["chat.db"])  # type: ignore[call-overload]
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


_AT_HOME = """
import os, pathlib, sqlite3
for folder in (pathlib.Path.home() / ".config" / "app", pathlib.Path(".cache")):
    folder.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(folder / f"said.{os.getpid()}.db")
    db.execute("CREATE TABLE IF NOT EXISTS said (text)")
    db.execute("INSERT INTO said VALUES ('once')")
    db.commit()
    db = sqlite3.connect(folder / "said.db")
    db.execute("CREATE TABLE IF NOT EXISTS said (text)")
    print(db.execute("SELECT count(*) FROM said").fetchone())
    db.execute("INSERT INTO said VALUES ('once')")
    db.commit()
"""


@pytest.mark.slow
def test_databases_in_hidden_folders_and_at_home(
    lctl: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TemporaryDirectory(dir="/var/tmp") as folder:  # what is among temporary files is not asked for
        home = Path(folder)
        monkeypatch.setenv("HOME", folder)
        (tmp_path / "agent.py").write_text(_AT_HOME)
        runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
        assert [run.stdout for run in runs] == ["(0,)\n(0,)\n", "(1,)\n(1,)\n"], runs
        keys = {key for key, _ in found(tmp_path / "first.lctl.json", "database")}
        assert keys >= {"home:.config/app/said.db", "home:.config/app/said.PID.db", ".cache/said.db"}
        before = {file: file.read_bytes() for file in home.rglob("*.db")}
        again_aside(lctl, runs)
        assert {file: file.read_bytes() for file in home.rglob("*.db")} == before


_KEPT = """
import os, sqlite3, time, diskcache

os.makedirs("out", exist_ok=True)
for number in (3, 1, 2, 12, 5):
    with open(f"out/{number}.txt", "w") as file:
        file.write("kept")
print(os.listdir("out"), len(os.listdir()), [entry.name for entry in os.scandir("out")])
cache = diskcache.Cache("cache")
print(cache.get("asked", 0), cache.set("asked", cache.get("asked", 0) + 1))
db = sqlite3.connect("file:long%2Edb?mode=rwc", uri=True)
db.execute("CREATE TABLE IF NOT EXISTS said (text)")
db.execute("INSERT INTO said VALUES ('once')")
db.commit()
print(db.execute("SELECT count(*) FROM said").fetchone())
print(sqlite3.connect("file:long.db?mode=ro", uri=True).execute("SELECT count(*) FROM said").fetchone())
print(sqlite3.connect("file::memory:", uri=True).execute("PRAGMA database_list").fetchone()[2])
"""


@pytest.mark.slow
def test_caches_on_disk_addresses_of_databases_and_the_order_of_folders(lctl: Run, tmp_path: Path) -> None:
    pytest.importorskip("diskcache", reason="needs: pip install diskcache")
    (tmp_path / "agent.py").write_text(_KEPT)
    runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
    assert [run.returncode for run in runs] == [0, 0], runs
    assert "1 True\n(2,)\n(2,)\n\n" in runs[1].stdout
    for name, run in zip(("first", "second"), runs, strict=True):
        again = lctl("rerun", f"{name}.lctl.json", "--writes", "aside")
        assert (again.returncode, again.stdout) == (0, run.stdout), again.stderr
    with closing(sqlite3.connect(tmp_path / "long.db")) as kept:
        assert kept.execute("SELECT count(*) FROM said").fetchone() == (2,)


_SHELVES = """
import dbm, dbm.dumb, shelve, sys, time

def count(shelf):
    with shelf:
        shelf["runs"] = shelf.get("runs", 0) + 1
        shelf[f"run {shelf['runs']}"] = time.time()
        print(sorted(shelf.items()))

for _ in range(2):
    count(shelve.Shelf(dbm.dumb.open("plain", "c")))
    if sys.version_info >= (3, 13):
        count(shelve.open("shelf"))
        print(dbm.whichdb("shelf"))
"""


@pytest.mark.slow
@pytest.mark.interpreter
def test_shelves(lctl: Run, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_SHELVES)
    runs = [lctl("run", "-o", f"{name}.lctl.json", "agent.py") for name in ("first", "second")]
    assert "('runs', 2)" in runs[0].stdout and "('runs', 4)" in runs[1].stdout, runs
    again_aside(lctl, runs)


_DATED = """
import json, sqlite3, time

db = sqlite3.connect(":memory:")
db.execute(
    "CREATE TABLE said (at DEFAULT CURRENT_TIMESTAMP, day DEFAULT CURRENT_DATE,"
    " f DEFAULT (strftime('%s', 'now')))"
)
db.execute("CREATE INDEX days ON said (date(at))")
db.execute("INSERT INTO said DEFAULT VALUES")
db.execute("INSERT INTO said VALUES ('2020-02-29 23:59:59', NULL, NULL)")
(rows,) = db.execute("SELECT strftime('%s', at), f, julianday(day) FROM said WHERE day NOT NULL").fetchall()
now = db.execute(
    "SELECT strftime('%s', date('NOW') || ' ' || time('now')),"
    " strftime('%s', CURRENT_DATE || ' ' || CURRENT_TIME), strftime('%s', 'now', '+1 day') - 86400,"
    " strftime('%s', datetime()), (julianday('now') - 2440587.5) * 86400, unixepoch(), strftime('%s')"
).fetchone()
plain = db.execute(
    "SELECT date(at, '+1 day'), strftime('%H', at), date(NULL), date('x'), datetime(0, 'unixepoch'),"
    " count(*) FROM said WHERE date(at) = '2020-02-29'"
).fetchone()
with open("said.json", "a") as file:
    file.write(json.dumps([*map(float, [*rows[:2], *now])]) + "\\n")
print(rows[2], *plain)
"""


@pytest.mark.slow
def test_the_time_that_a_database_says_is_that_of_the_recording(lctl: Run, tmp_path: Path) -> None:
    """Its C code reads it: no recording has it, so that it is so but for some milliseconds."""
    (tmp_path / "agent.py").write_text(_DATED)
    recorded = lctl("run", "-o", "run.lctl.json", "agent.py")
    assert recorded.stdout.endswith(" 2020-03-01 23 None None 1970-01-01 00:00:00 1\n"), recorded.stderr
    time.sleep(3)
    again = lctl("rerun", "run.lctl.json", "--allow", f"write:{tmp_path}/said.json")
    assert (again.returncode, again.stdout) == (0, recorded.stdout), again.stderr
    first, second = map(json.loads, (tmp_path / "said.json").read_text().splitlines())
    assert len(first) == 9 and max(first) - min(first) <= 1
    assert second == pytest.approx(first, abs=1.5)
