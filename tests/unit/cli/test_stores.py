"""Commands on a store: as on files."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lctl.cli import main
from lctl.codec import open_log
from lctl.distributed import continued, inject
from lctl.session import LCTLSession
from lctl.stores.address import parse
from lctl.stores.opening import close_stores, open_store


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LCTL_STORE", raising=False)
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("LCTL_QUIET", "1")
    yield tmp_path
    close_stores()


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A store with two runs, the newer one with an error."""
    where = f"sqlite:///{tmp_path}/runs.db"
    for name in ("older", "newer"):
        with LCTLSession(name, store=where) as session, session.step(name, intent="work"):
            session.add_fact("F1", f"said by {name}", 0.5)
            session.tool_call("grep", {"q": name}, "found")
    return where


def test_ls_lists_a_store(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Newest first, with --store or LCTL_STORE."""
    assert main(["ls", "--store", place, "--json"]) == 0
    runs = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["id"], one["events"], one["open"]) for one in runs] == [
        ("newer", 4, False),
        ("older", 4, False),
    ]
    assert runs[0]["path"] == f"{place}#newer"


@pytest.mark.parametrize("command", ["ls", "runs"])
def test_an_address_stands_where_a_folder_would(
    command: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, place, "--json"]) == 0
    told = capsys.readouterr().out
    assert main([command, "--store", place, "--json"]) == 0
    assert capsys.readouterr().out == told
    assert [json.loads(line)["id"] for line in told.splitlines()] == ["newer", "older"]


def test_a_run_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It goes to a store and comes from it as one, each chain once; what is done with one process says so."""
    with LCTLSession("front") as front:
        front.add_fact("F1", "mine", 0.5)
        for name in ("left", "right"):
            with continued(inject({}), name) as child:
                child.add_fact("F1", "its own", 0.5)
    place = f"sqlite:///{tmp_path}/tree.db"
    assert main(["push", "front+", "--store", place]) == 0
    assert main(["push", "left", "--store", place]) == 0
    assert "all there already" in capsys.readouterr().out
    assert main(["stats", f"{place}#front"]) == 0
    assert f"front started 2 other runs; {place}#front+ is all of it" in capsys.readouterr().err
    for whole in (f"{place}#front+", "front+"):
        assert main(["stats", whole]) == 0
        assert capsys.readouterr().err == ""
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "other"))
    assert main(["pull", f"{place}#front+"]) == 0
    assert sorted(path.name for path in (tmp_path / "other").glob("*.json")) == [
        f"{name}.lctl.json" for name in ("front", "left", "right")
    ]
    assert main(["rerun", f"{place}#front+"]) == main(["rerun", "front+"]) == 2
    assert capsys.readouterr().err.count("this is done with one of them: give 'front'") == 2


@pytest.mark.parametrize(
    "command",
    [
        ["show", "TARGET", "2"],
        ["replay", "TARGET", "--no-interactive"],
        ["stats", "TARGET"],
        ["bottleneck", "TARGET"],
        ["tree", "TARGET"],
        ["tail", "TARGET"],
        ["verify", "TARGET"],
        ["validate", "TARGET"],
        ["transcript", "TARGET"],
    ],
)
def test_every_command_reads_a_store(
    command: list[str],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """What it prints of a run there is what it prints of the run's file."""
    main(["pull", f"{place}#newer", "-o", "newer.lctl.json"])
    capsys.readouterr()

    def said(target: str) -> tuple[int, str]:
        code = main([target if word == "TARGET" else word for word in command])
        return code, capsys.readouterr().out.replace(f"{place}#newer", "newer.lctl.json")

    of_file = said("newer.lctl.json")
    assert said(f"{place}#newer") == of_file
    assert said(place) == of_file
    monkeypatch.setenv("LCTL_STORE", place)
    assert said("last") == of_file
    assert said("new") == of_file


def test_diff_of_a_file_and_a_stored_run(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Targets of both kinds in one command."""
    main(["pull", f"{place}#newer", "-o", "newer.lctl.json"])
    assert main(["diff", "newer.lctl.json", f"{place}#newer"]) == 0
    assert main(["diff", f"{place}#older", f"{place}#newer"]) == 1


def test_push_and_pull(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There and back: the same bytes; a second time nothing is new."""
    other = f"sqlite:///{tmp_path}/other.db"
    with LCTLSession("local", "local.lctl.json") as session:
        session.add_fact("F1", "one", 0.5)
    assert main(["push", "local.lctl.json", "--store", other]) == 0
    assert main(["push", "local.lctl.json", "--store", other]) == 0
    assert "all there already" in capsys.readouterr().out
    assert main(["pull", f"{other}#local", "-o", "back.lctl.json"]) == 0
    assert Path("back.lctl.json").read_bytes() == Path("local.lctl.json").read_bytes()
    assert main(["pull", "last", "--store", other]) == 0
    assert (tmp_path / "runs" / "local.lctl.json").read_bytes() == Path("local.lctl.json").read_bytes()


def test_pull_of_ids_that_are_alike(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each in a file of its own, found by the address that is printed of it."""
    ids = ["a/b", "a:b", "a%2Fb"]
    for id in ids:
        with LCTLSession(id, tmp_path / "one.lctl.json") as session:
            session.add_fact("F1", id, 0.5)
        main(["push", str(tmp_path / "one.lctl.json"), "--store", place])
        (tmp_path / "one.lctl.json").unlink()
    capsys.readouterr()
    for id in ids:
        assert main(["pull", str(parse(place).at(id))]) == 0
        path = capsys.readouterr().out.rpartition(" in ")[2].strip()
        assert open_log(path).id == id


def test_pull_brings_up_to_date(place: str) -> None:
    """What is there already is gone on with; another log in its place is not overwritten."""
    assert main(["pull", f"{place}#older", "-o", "x.lctl.json"]) == 0
    with LCTLSession("older", store=place) as session:
        session.add_fact("F2", "later", 0.5)
    assert main(["pull", f"{place}#older", "-o", "x.lctl.json"]) == 0
    assert len(open_log("x.lctl.json")) == 5
    assert main(["pull", f"{place}#newer", "-o", "x.lctl.json"]) == 2
    assert len(open_log("x.lctl.json")) == 5


def test_a_file_that_pull_refuses_stays_as_it_is(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Closed, with its end; and why is said."""
    file = Path("x.lctl.json")
    refused = {
        "longer": "goes further than the store's chain, to event 5 (4 there)",
        "changed": "holds other events of chain older, from event 2 on",
        "another": "is the log of chain another",
    }
    for what, reason in refused.items():
        if what == "another":
            with LCTLSession("another", file) as session:
                session.add_fact("F1", "one", 0.5)
        else:
            assert main(["pull", f"{place}#older", "-o", str(file)]) == 0
            if what == "longer":
                with LCTLSession("older", file) as session:
                    session.add_fact("F2", "more", 0.5)
            else:
                lines = file.read_bytes().split(b"\n")
                lines[2] = lines[2].replace(b'"agent":"', b'"agent":"other-')
                file.write_bytes(b"\n".join(lines))
        before = file.read_bytes()
        capsys.readouterr()
        assert main(["pull", f"{place}#older", "-o", str(file)]) == 2
        assert reason in capsys.readouterr().err
        assert file.read_bytes() == before
        file.unlink()


def test_pull_leaves_the_end_of_a_file_that_has_all(place: str) -> None:
    """Also where the store's chain is open."""
    session = LCTLSession("live", store=place)
    session.add_fact("F1", "one", 0.5)
    session.sync(20)
    assert main(["pull", f"{place}#live", "-o", "x.lctl.json"]) == 0
    LCTLSession("live", "x.lctl.json").close()
    closed = Path("x.lctl.json").read_bytes()
    assert open_log("x.lctl.json").tail is not None
    assert main(["pull", f"{place}#live", "-o", "x.lctl.json"]) == 0
    assert Path("x.lctl.json").read_bytes() == closed
    session.close()


def test_push_of_a_log_without_id(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It goes by the name of its file, and is no branch of another one."""
    event = {"seq": 1, "type": "step_start", "timestamp": "2026-01-01T00:00:00Z", "agent": "a", "data": {}}
    log = tmp_path / "nameless.lctl.json"
    log.write_text(json.dumps({"lctl": "4.0", "chain": {}, "events": [event]}))
    for said in ("1 new event of 1", "all there already"):
        assert main(["push", str(log), "--store", place]) == 0
        assert capsys.readouterr().out.splitlines() == [f"nameless: {said}  {log}"]


def test_push_delivers_the_outbox(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a store that was away did not get; and says what waits for another."""
    pytest.importorskip("psycopg", reason="pip install 'lctl[postgres]'")
    away = "postgresql://nobody@127.0.0.1:1/nowhere?connect_timeout=1"
    with LCTLSession("run", store=away) as session:
        session.add_fact("F1", "one", 0.5)
    capsys.readouterr()
    assert main(["push", "--store", f"sqlite:///{tmp_path}/x.db"]) == 0
    assert "(1 log for another store)" in capsys.readouterr().out
    assert main(["push", "--store", away]) == 3
    assert "127.0.0.1" in capsys.readouterr().err
    note = tmp_path / "runs" / "outbox" / ".run.lctl.json.to"
    note.write_text(json.dumps({"store": f"sqlite:///{tmp_path}/x.db"}))
    assert main(["push", "--store", f"sqlite:///{tmp_path}/x.db"]) == 0
    assert "run: 1 new event of 1" in capsys.readouterr().out
    assert open_store(f"sqlite:///{tmp_path}/x.db").entry("run").events == 1


def test_prune(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By age or by name; a dry run removes nothing."""
    assert main(["prune", "--older-than", "0m", "--dry-run", "--store", place]) == 0
    assert "2 runs would be removed" in capsys.readouterr().out
    assert main(["prune", "--older-than", "1d", "--store", place]) == 0
    assert "0 runs removed" in capsys.readouterr().out
    assert main(["prune", "--older-than", "999999d", "--store", place]) == 0
    assert "0 runs removed" in capsys.readouterr().out
    assert main(["prune", "--run", "older", "--store", place]) == 0
    assert [one.id for one in open_store(place).entries()] == ["newer"]


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["ls", "--store", "mysql://x"], "not a store", 2),
        (["ls", "--store", "sqlite:///none.db"], "no such file", 3),
        (["push"], "set LCTL_STORE", 2),
        (["prune", "--store", "sqlite:///x.db"], "--older-than AGE or --run ID", 2),
        (["prune", "--older-than", "soon", "--store", "memory:"], "such as 90d", 2),
        (["show", "memory:#none"], "no chain 'none'", 3),
        (["show", "memory:"], "there are no runs in it", 3),
        (["pull", "last", "--tree", "-o", "x", "--store", "memory:"], "no runs", 3),
    ],
)
def test_what_goes_wrong_is_one_line(
    arguments: list[str], said: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its exit code."""
    assert main(arguments) == code
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_tail_follows_a_store(place: str) -> None:
    """Events as another program records them, until its run ends."""
    session = LCTLSession("live", store=place)
    session.add_fact("F1", "one", 0.5)
    session.sync(20)
    command = [sys.executable, "-m", "lctl", "tail", "-f", "live", "--store", place, "--json"]
    follower = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def record() -> None:
        time.sleep(1.0)
        session.add_fact("F2", "two", 0.5)
        session.sync(20)
        time.sleep(0.5)
        session.close()

    thread = threading.Thread(target=record)
    thread.start()
    out, err = follower.communicate(timeout=60)
    thread.join()
    assert [json.loads(line)["seq"] for line in out.splitlines()] == [1, 2]
    assert "the run has ended (2 events)" in err


def test_a_stored_run_is_run_again(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From a file of it, which is said."""
    program = tmp_path / "program.py"
    program.write_text("import lctl\n@lctl.tool\ndef look():\n    return 7\nprint(look())\n")
    command = [sys.executable, "-m", "lctl", "run", "program.py"]
    done = subprocess.run(
        command, env={**_environment(), "LCTL_STORE": place}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    again = subprocess.run(
        [sys.executable, "-m", "lctl", "rerun", "last"],
        env={**_environment(), "LCTL_STORE": place},
        capture_output=True,
        text=True,
    )
    assert again.returncode == 0, again.stderr + again.stdout
    assert "pulled from" in again.stderr


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
