"""The session that opens itself, and what instruments when one is entered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lctl
from lctl.errors import RecordingError
from lctl.session import LCTLSession, default, export, get_session, hooks, tool
from tests.unit.session.test_processes import run

_PROGRAM = """
import sys
from lctl.session import default, get_session, tool
default.enable()

@tool
def add(a, b):
    return a + b

if "silent" not in sys.argv:
    add(1, 2)
    if "crash" in sys.argv:
        get_session().step_start("a")
        raise ValueError("boom")
    if "exit" in sys.argv:
        sys.exit(3)
"""
_INSTRUMENTED = "from lctl.instrument import auto_instrument\nauto_instrument()\n" + _PROGRAM


def test_it_opens_at_the_first_event_and_says_where_it_is(folder: Path) -> None:
    """One line on stderr at exit, in the number of its events."""
    done = run(_PROGRAM)
    (log,) = (folder / ".lctl").iterdir()
    assert log.name.endswith("-program.lctl.json")
    assert done.stderr == f"lctl: 1 event in .lctl/{log.name}  (lctl replay last)\n"
    assert json.loads(log.read_text())["chain"]["name"] == "program"


def test_without_an_event_there_is_nothing(folder: Path) -> None:
    """No file, no line."""
    done = run(_PROGRAM, "silent")
    assert done.stderr == "" and not (folder / ".lctl").exists()


def test_it_can_be_quiet(folder: Path) -> None:
    """LCTL_QUIET=1."""
    assert run(_PROGRAM, LCTL_QUIET="1").stderr == ""


@pytest.mark.parametrize(("how", "status"), [("crash", 1), ("exit", 3)])
def test_it_is_closed_however_the_program_ends(folder: Path, how: str, status: int) -> None:
    """A traceback is the program's own; open steps are ended, with what the program died of."""
    done = run(_PROGRAM, how)
    assert done.returncode == status
    assert ("ValueError: boom" in done.stderr) == (how == "crash")
    (log,) = (folder / ".lctl").iterdir()
    document = json.loads(log.read_text())
    assert document["hash"]["count"] == (4 if how == "crash" else 1)


def test_where_nothing_can_be_written_the_program_runs_unrecorded(folder: Path) -> None:
    """Said once."""
    (folder / "file").touch()
    done = run(_PROGRAM + "\nadd(3, 4)\nprint('ran')", LCTL_DIR=str(folder / "file"))
    assert done.returncode == 0 and done.stdout == "ran\n"
    assert done.stderr.count("lctl:") == 1


@pytest.fixture
def enabled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LCTL_QUIET", "1")
    default.enable()
    yield
    default.disable()


def test_what_asks_while_it_is_closed_gets_it(enabled: None) -> None:
    """As a stream does that ends with it; another one would be opened for nothing."""
    session = get_session()
    assert session is not None
    asked: list[LCTLSession | None] = []
    session.on_close = lambda: asked.append(get_session())
    session.emit("fact_added", {"id": "F1", "text": "x"})
    default.close()
    assert asked == [session]


def test_a_session_entered_goes_before_it(enabled: None) -> None:
    """Inside, events go to the entered session; after it, to the default one, opened then."""
    with LCTLSession("c", "c.lctl.json") as session:
        assert get_session() is session
        assert default._session is None
    opened = get_session()
    assert opened is not None and opened is not session and opened is get_session()

    @tool
    def one() -> int:
        return 1

    one()
    assert [e["data"]["tool"] for e in opened.to_dict()["events"]] == ["one"]
    assert export("copy.lctl.json").exists()


def test_export_without_a_recording_says_what_to_do(folder: Path) -> None:
    """An explicit wish that cannot be met is an error."""
    with pytest.raises(RecordingError, match="nothing is being recorded"):
        export("x.lctl.json")


def test_entering_a_session_runs_the_hooks_and_leaving_undoes_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Last first; also when the block raises."""
    told: list[str] = []

    def hook(name: str) -> hooks.Undo:
        told.append(f"+{name}")
        return lambda: told.append(f"-{name}")

    monkeypatch.setattr(
        hooks, "on_enter", [lambda session: hook("a"), lambda session: None, lambda session: hook("b")]
    )
    with pytest.raises(ValueError), LCTLSession("c", "c.lctl.json"):
        told.append("body")
        raise ValueError
    assert told == ["+a", "+b", "body", "-b", "-a"]


def test_the_package_offers_the_names_users_know() -> None:
    """Each lazily."""
    for name in ("LCTLSession", "get_session", "tool", "traced", "traced_step", "export", "Redactor"):
        assert getattr(lctl, name) is getattr(lctl.session, name)
    assert set(lctl.__all__) <= set(dir(lctl))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lctl.nothing  # noqa: B018


def test_a_session_taken_from_the_package_instruments_what_it_enters(folder: Path) -> None:
    """`lctl.LCTLSession` does, once; the session floor alone does not reach up."""
    code = """
import lctl.session
from lctl.session import hooks
assert hooks.on_enter == []
lctl.LCTLSession, lctl.tool, lctl.LCTLSession
assert [hook.__module__ for hook in hooks.on_enter] == ["lctl"]
"""
    assert run(code).returncode == 0


_WANDERER = """
import os, subprocess, sys
from lctl.session import default, tool
default.enable()

@tool
def add(a, b):
    return a + b

os.chdir("sub")
add(1, 2)
if len(sys.argv) < 2:
    os.chdir("..")
    subprocess.run([sys.executable, "../program.py", "child"], cwd="other", check=True)
    os.chdir("other")
"""


@pytest.mark.parametrize("kept", [".lctl", "runs/deep"])
def test_wherever_a_program_goes_its_recordings_are_where_it_was_started(folder: Path, kept: str) -> None:
    """It leaves its folder before its first event, and starts a process in another one."""
    (folder / "sub").mkdir()
    (folder / "other" / "sub").mkdir(parents=True)
    done = run(_WANDERER, **({} if kept == ".lctl" else {"LCTL_DIR": kept}))
    assert done.returncode == 0, done.stderr
    logs = [path for path in folder.rglob("*.lctl.json") if not path.name.startswith(".")]
    chains = [json.loads(path.read_text())["chain"] for path in sorted(logs)]
    assert {path.parent for path in logs} == {folder / kept}
    ids = {chain["id"] for chain in chains if "parent" not in chain}
    assert {chain["parent"]["id"] for chain in chains if "parent" in chain} == ids
    assert len(logs) == 2
    assert "(lctl replay last)" in done.stderr and f" {kept}/" in done.stderr


def test_a_log_is_named_from_where_the_program_was_started(folder: Path) -> None:
    """It leaves that folder behind its first event."""
    (folder / "sub").mkdir()
    start, go = 'os.chdir("sub")\nadd(1, 2)\n', 'add(1, 2)\nos.chdir("sub")\n'
    done = run(_WANDERER.partition("if len")[0].replace(start, go))
    (log,) = (path for path in folder.rglob("*.lctl.json") if not path.name.startswith("."))
    assert f" in {log.relative_to(folder)}  (lctl replay last)" in done.stderr


def test_a_process_may_be_told_to_keep_its_own_elsewhere(folder: Path) -> None:
    """`LCTL_DIR` in the environment it is started with."""
    (folder / "sub").mkdir()
    (folder / "other" / "sub").mkdir(parents=True)
    program = _WANDERER.replace("check=True)", "check=True, env={**os.environ, 'LCTL_DIR': 'its'})")
    assert run(program).returncode == 0
    logs = [path.parent for path in folder.rglob("*.lctl.json") if not path.name.startswith(".")]
    assert sorted(logs) == [folder / ".lctl", folder / "other" / "its"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are not UTF-8")
def test_a_folder_whose_name_is_not_utf8(folder: Path) -> None:
    """What the header cannot hold is spelled out, and all is recorded."""
    place = os.fsencode(folder) + b"/caf\xe9"
    os.mkdir(place)  # noqa: PTH102
    os.chdir(place)
    try:
        done = run(_INSTRUMENTED, "\udcff", "ü")
        (log,) = (Path.cwd() / ".lctl").iterdir()
        program = json.loads(log.read_text())["chain"]["program"]
    finally:
        os.chdir(folder)
    assert done.returncode == 0 and done.stderr.count("lctl:") == 1, done.stderr
    assert program["cwd"].endswith("/caf\\xe9") and program["argv"][-2:] == ["\\xff", "ü"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs the locale C")
def test_a_folder_of_other_letters_where_the_locale_is_c(folder: Path) -> None:
    """It is named as it is."""
    place = folder / "cafétaria"
    place.mkdir()
    os.chdir(place)
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run(_INSTRUMENTED, **locale)
    (log,) = (place / ".lctl").iterdir()
    assert done.returncode == 0 and done.stderr.count("lctl:") == 1, done.stderr
    assert json.loads(log.read_text())["chain"]["program"]["cwd"] == str(place)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_where_the_line_cannot_be_written_the_program_ends_as_it_would(folder: Path) -> None:
    """Not with 120, which is what Python says of a stream that it could not empty."""
    Path("program.py").write_text(_PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "program.py"], stderr=full, timeout=60, env=environment)
    assert done.returncode == 0


_AT_EXIT = """
import atexit, sys
from lctl.session import default, get_session
default.enable()
atexit.register(lambda: get_session().emit("t", {"n": 2}))
if "before" in sys.argv:
    get_session().emit("t", {"n": 1})
"""


@pytest.mark.parametrize("words", [(), ("before",)])
def test_what_exit_functions_do_is_in_the_log(words: tuple[str, ...], folder: Path) -> None:
    """Though the log is opened after they were registered, or by them: there is one, and it is closed."""
    done = run(_AT_EXIT, *words)
    (log,) = (folder / ".lctl").iterdir()
    assert json.loads(log.read_text())["hash"]["count"] == 1 + len(words)
    assert done.stderr.count("lctl:") == 1


def test_what_goes_on_after_the_end_begins_no_other_log(folder: Path) -> None:
    """A daemon thread does, until the process is gone."""
    done = run(
        """
import atexit, threading
asked, ended = threading.Event(), threading.Event()

def last():
    ended.set()
    thread.join()

atexit.register(last)  # before: so it runs behind ours
from lctl.session import default, get_session
default.enable()
get_session().emit("t", {})

def work():
    ended.wait()
    print(get_session())

thread = threading.Thread(target=work, daemon=True)
thread.start()
"""
    )
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr
    assert len(list((folder / ".lctl").iterdir())) == 1


def test_what_a_daemon_thread_does_after_the_end_is_no_failure(folder: Path) -> None:
    """It has the session, whose log is closed: the program has ended, and nothing was missed of it."""
    done = run(
        """
import atexit, threading
ended = threading.Event()

def last():
    ended.set()
    thread.join()

atexit.register(last)  # before: so it runs behind ours
from lctl.session import default, get_session
default.enable()
session = get_session()
session.emit("t", {})

def work():
    ended.wait()
    print(session.emit("t", {}), session.lost)

thread = threading.Thread(target=work, daemon=True)
thread.start()
"""
    )
    assert (done.returncode, done.stdout) == (0, "0 0\n"), done.stderr
    assert done.stderr.count("lctl:") == 1
