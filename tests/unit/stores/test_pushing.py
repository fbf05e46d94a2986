"""What a push costs: what is new, not what is there. What is there is spoiled here: who reads it fails."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lctl.codec import open_log
from lctl.errors import StoreError
from lctl.session import LCTLSession
from lctl.stores import outbox
from lctl.stores.address import parse
from lctl.stores.chunks import EVENTS
from lctl.stores.opening import close_stores, open_store


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("LCTL_DIR", str(tmp_path / "lctl"))
    yield f"sqlite:///{tmp_path}/runs.db"
    close_stores()


def record(path: Path, facts: int) -> None:
    with LCTLSession("run", path) as session:
        for n in range(facts):
            session.add_fact(f"F{n}", "a fact", 0.5)


def push(path: Path, place: str) -> str:
    """By a process of its own, as it is in a cron job."""
    command = [sys.executable, "-m", "lctl", "push", str(path), "--store", place]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
    return done.stdout + done.stderr


def spoil(place: str) -> None:
    """All full chunks of the store."""
    with closing(sqlite3.connect(parse(place).place)) as connection:
        connection.execute("UPDATE chunks SET body = x'00' WHERE first_seq <= ?", (EVENTS,))
        connection.commit()
    close_stores()
    with pytest.raises(StoreError, match="damaged"):
        list(open_store(place).read("run"))


def test_a_closed_log_that_went_on(place: str, tmp_path: Path) -> None:
    """The seal in the store says that its events are the first ones here."""
    path = tmp_path / "run.lctl.json"
    for new, whole in ((300, 300), (30, 330)):
        record(path, new)
        assert f"run: {new} new events of {whole}" in push(path, place)
        spoil(place)
    assert "run: all there already" in push(path, place)
    assert not open_store(place).entry("run").open


def test_what_waits_in_the_outbox(place: str, tmp_path: Path) -> None:
    """Its program was killed after a part was delivered, or the store went away: nobody else wrote it."""
    path = outbox.path_of("run")
    record(path, 300)
    store = open_store(place, create=True)
    lines = list(open_log(path).lines())
    store.begin({"id": "run"})
    store.append("run", 1, lines[:290])
    outbox.note(path, parse(place))
    spoil(place)
    (done,) = outbox.deliver_all(open_store(place))
    assert (done.stored_as, done.new) == ("run", 10)
    assert not open_store(place).entry("run").open
    assert not path.exists()
