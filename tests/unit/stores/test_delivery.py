"""From the local journal to the store: in order, once, also when store or program were gone meanwhile."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import lctl
from lctl.codec import open_log
from lctl.errors import StoreAway, UsageError
from lctl.guard import guard
from lctl.session import LCTLSession
from lctl.stores import outbox
from lctl.stores.address import parse
from lctl.stores.copying import BLOCK_EVENTS
from lctl.stores.delivery import Delivery
from lctl.stores.opening import open_store
from tests.unit.stores.delivering import AWAY, PROGRAM, folder, left, place

__all__ = ["folder", "place"]  # fixtures


def test_a_session_ends_in_its_store(place: str, folder: Path) -> None:
    """With its tail; the journal is gone, and what was recorded can still be read from the session."""
    with LCTLSession(store=place) as session, session.step("work"):
        session.add_fact("F1", "one", 0.5)
    log = open_log(f"{place}#{session.chain_id}")
    assert [event.type for event in log.events()] == ["step_start", "fact_added", "step_end"]
    assert list(log.lines()) == list(session.lines())
    assert log.tail is not None
    assert log.tail["summary"]["events"] == 3
    assert not log.open
    assert left(folder) == []
    assert session.store.where == f"{place}#{session.chain_id}"


def test_a_session_in_which_nothing_happened_ends_at_once(place: str, folder: Path) -> None:
    """Begun, or gone on with: it is in the store, and nothing waits for it."""
    began = time.monotonic()
    for _ in range(2):
        LCTLSession("empty", store=place).close()
    assert time.monotonic() - began < 5
    log = open_log(f"{place}#empty")
    assert (len(log), log.open, left(folder), guard.failures) == (0, False, [], {})


def test_the_environment_names_the_store(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """LCTL_STORE; what the program says goes before it."""
    monkeypatch.setenv("LCTL_STORE", place)
    with LCTLSession("by-environment") as session:
        session.add_fact("F1", "one", 0.5)
    with LCTLSession("by-argument", store="memory:other") as session:
        session.add_fact("F1", "one", 0.5)
    assert [one.id for one in open_store(place).entries()] == ["by-environment"]
    assert [one.id for one in open_store("memory:other").entries()] == ["by-argument"]


def test_what_is_no_store_is_refused() -> None:
    """When the session is opened, with what stores there are."""
    with pytest.raises(UsageError, match=r"mysql://x.*not a store; they are file:FOLDER"):
        LCTLSession(store="mysql://x")


@pytest.mark.parametrize("option", ["tenant=acme", "schema=audit", "compress=none&tenant=acme"])
def test_what_only_postgresql_tells_apart_is_refused_elsewhere(option: str) -> None:
    """Or all runs would look like those of one tenant."""
    for address in ("sqlite:///runs.db", "file:runs", "memory:"):
        with pytest.raises(UsageError, match="is a PostgreSQL store's"):
            parse(f"{address}?{option}")


def test_a_named_path_stays(place: str, tmp_path: Path) -> None:
    """The journal is where the program wants it, and the store has the same."""
    path = tmp_path / "mine.lctl.json"
    with LCTLSession("run", path, store=place) as session:
        session.add_fact("F1", "one", 0.5)
    assert list(open_log(path).lines()) == list(open_log(f"{place}#run").lines())


def test_events_are_in_the_store_while_the_program_runs(place: str) -> None:
    """`sync` returns when they are."""
    with LCTLSession("run", store=place) as session:
        session.add_fact("F1", "one", 0.5)
        session.sync(20)
        assert open_store(place).entry("run").last_seq == 1
        session.add_fact("F2", "two", 0.5)
        session.sync(20)
        assert open_store(place).entry("run").last_seq == 2


def test_a_long_journal_arrives_whole(place: str) -> None:
    """In many pieces."""
    with LCTLSession("run", store=place) as session:
        for n in range(BLOCK_EVENTS + 100):
            session.add_fact(f"F{n}", "x" * 300, 0.5)
    assert list(open_log(f"{place}#run").lines()) == list(session.lines())


def test_a_store_in_memory_leaves_no_file(folder: Path) -> None:
    """And is read by everything else in the process."""
    with LCTLSession("run", store="memory:here") as session:
        session.add_fact("F1", "one", 0.5)
        assert lctl.load("memory:here#run").state.facts["F1"].text == "one"
    assert not open_log("memory:here#run").open
    assert not folder.exists()


def test_a_program_that_records_into_memory_ends_in_peace() -> None:
    """Its store is there until the recording has ended, and no command is named that would find it."""
    program = "import lctl; lctl.auto_instrument(); lctl.get_session().add_fact('F1', 'one', 0.5)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "LCTL_STORE": "memory:", "LCTL_QUIET": ""}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert re.fullmatch(r"lctl: 1 event in memory:#\S+, gone with the program\n", done.stderr), done.stderr


def test_an_id_with_a_nul_is_refused_before_anything_is_written(place: str, folder: Path) -> None:
    """It failed half way, and was the parent of every session after it."""
    with pytest.raises(UsageError, match="NUL"):
        LCTLSession("a\0b", store=place)
    assert left(folder) == []
    with LCTLSession("run", store="memory:after"):
        pass
    assert "parent" not in open_log("memory:after#run").chain


def test_a_folder_is_a_store(tmp_path: Path) -> None:
    """Of files as they are without one."""
    store = f"file:{tmp_path}/runs"
    with LCTLSession("run", store=store) as session:
        session.add_fact("F1", "one", 0.5)
    assert lctl.load(tmp_path / "runs" / "run.lctl.json").id == "run"
    assert lctl.load(f"{store}#run").state.facts["F1"].text == "one"


def test_recording_goes_on_while_the_store_is_away(
    folder: Path, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Into the local journal, which waits in the outbox with a note of where it goes."""
    pytest.importorskip("psycopg", reason="pip install 'lctl[postgres]'")
    os.environ["LCTL_QUIET"] = "0"
    session = LCTLSession("run", store=AWAY)
    session.add_fact("F1", "one", 0.5)
    with pytest.raises(StoreAway, match="events up to 1 are not stored"):
        session.sync(0.5)
    session.close()
    assert session.lost == 0
    waiting = list(outbox.waiting())
    assert [(one.path.name, "127.0.0.1:1" in one.store) for one in waiting] == [("run.lctl.json", True)]
    assert "waits in" in capfd.readouterr().err
    store = open_store(place, create=True)
    assert outbox.deliver(waiting[0].path, store) == outbox.Pushed("run", "run", 1, 1)
    assert not store.entry("run").open
    assert left(folder) == []


def test_a_store_that_refuses_is_said_once(folder: Path, tmp_path: Path) -> None:
    """That the events wait, and where; nothing was missed."""
    newer = sqlite3.connect(tmp_path / "newer.db")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    program = "import lctl\nlctl.auto_instrument()\nwith lctl.traced_step('a', 'b'): pass\n"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "LCTL_QUIET": "0"}
    env["LCTL_STORE"] = f"sqlite:///{tmp_path}/newer.db"
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.count("version 99") == 1, done.stderr
    assert "what was recorded waits in" in done.stderr and "could not record" not in done.stderr


def test_what_a_killed_program_left_is_delivered_by_the_next(place: str, folder: Path) -> None:
    """Every event whose recording call had returned, once."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.Popen(
        [sys.executable, str(PROGRAM), place, "100000", "0.001"], env=env, stdout=subprocess.PIPE, text=True
    )
    assert killed.stdout is not None
    chain_id = killed.stdout.readline().strip()
    journal = outbox.path_of(chain_id)
    while not journal.exists() or journal.stat().st_size < 20_000:
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    written = list(open_log(journal).lines())
    with LCTLSession("next", store=place) as session:
        session.add_fact("F1", "one", 0.5)
    store = open_store(place)
    assert list(store.read(chain_id)) == written
    assert store.entry(chain_id).open
    assert [name for name in left(folder) if not name.endswith(".lock")] == []


def test_chains_whose_ids_are_alike_wait_each_for_itself(tmp_path: Path) -> None:
    """Ids are anybody's words; a file's name is not."""
    pytest.importorskip("psycopg", reason="pip install 'lctl[postgres]'")
    for id in ("mail:17", "mail-17", "mail/17"):
        session = LCTLSession(id, store=AWAY)
        assert session.add_fact("F1", id, 0.5) == 1
        session.store.forget()
    assert sorted(open_log(one.path).id for one in outbox.waiting()) == ["mail-17", "mail/17", "mail:17"]


def test_nobody_else_delivers_what_a_closing_program_delivers(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the events of a branch would be stored under two names."""
    swept, finish = [], Delivery.finish

    def at_that_moment(self: Delivery, tail: dict[str, Any]) -> None:
        swept.append(outbox.deliver_all(open_store(place)))
        finish(self, tail)

    monkeypatch.setattr(Delivery, "finish", at_that_moment)
    with LCTLSession("run", store=place) as session:
        session.add_fact("F1", "one", 0.5)
    assert swept == [[]]
    assert list(lctl.load(f"{place}#run").state.facts) == ["F1"]
    assert list(outbox.waiting()) == []


def test_pushing_twice_changes_nothing(place: str, tmp_path: Path) -> None:
    """Also of a log that became a branch."""
    store = open_store(place, create=True)
    paths = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}.lctl.json"
        with LCTLSession("run", path) as session:
            session.add_fact(name, name, 0.5)
        paths.append(path)
    first = [outbox.push(open_log(path), store) for path in paths]
    assert [one.new for one in first] == [1, 1]
    assert first[0].stored_as == "run" != first[1].stored_as
    again = [outbox.push(open_log(path), store) for path in paths]
    assert [(one.stored_as, one.new) for one in again] == [(one.stored_as, 0) for one in first]
    assert len(list(store.entries())) == 2


def test_a_forked_process_has_a_chain_of_its_own(place: str) -> None:
    """In the same store, linked to its parent's, which goes on."""
    program = """
import os, sys, lctl
with lctl.LCTLSession("parent", store=sys.argv[1]) as session:
    session.add_fact("F1", "before", 0.5)
    pid = os.fork()
    if pid == 0:
        session.add_fact("F2", "child", 0.5)
        session.close()
        os._exit(0)
    os.waitpid(pid, 0)
    session.add_fact("F3", "after", 0.5)
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, place],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    store = open_store(place)
    (child,) = store.children("parent")
    assert child.chain["parent"]["seq"] == 1
    assert list(lctl.load(f"{place}#parent").state.facts) == ["F1", "F3"]
    assert list(lctl.load(f"{place}#{child.id}").state.facts) == ["F2"]


def test_what_waits_is_for_one_store(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However its address is written, and from whatever folder."""
    (tmp_path / "there").mkdir()
    journal = outbox.path_of("run")
    with LCTLSession("run", journal) as session:
        session.add_fact("F1", "one", 0.5)
    monkeypatch.chdir(tmp_path)
    outbox.note(journal, parse("sqlite:///runs.db"))
    monkeypatch.chdir(tmp_path / "there")
    assert outbox.deliver_all(open_store("sqlite:///runs.db", create=True)) == []
    assert [one.chain_id for one in outbox.deliver_all(open_store(place, create=True))] == ["run"]
    one, other = parse("postgres://u:secret@h/d?tenant=t#x"), parse("postgresql://u@h/d?tenant=t")
    assert one.identity == other.identity
    assert "secret" not in one.identity
