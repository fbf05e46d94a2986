"""Connections to a real PostgreSQL that threads share: lost, all in use, left broken."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from lctl.errors import LogNotFound, StoreAway, StoreError
from lctl.stores.address import parse
from lctl.stores.chunks import BYTES
from lctl.stores.opening import close_stores, open_store
from lctl.stores.postgres import PostgresStore

pytestmark = pytest.mark.database

LINES = [b'{"seq":%d,"type":"t","timestamp":"","agent":"","data":{}}' % seq for seq in range(1, 9001)]


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    made = open_store(postgres_url)
    assert isinstance(made, PostgresStore)
    made.begin({"id": "run"})
    made.append("run", 1, LINES)
    yield made
    close_stores()


def kill(store: PostgresStore) -> int:
    """End all connections of stores, as an administrator would; how many there were."""
    import psycopg

    with psycopg.connect(parse(str(store.address)).place.replace(":...@", ":secret@")) as admin:
        ended: Any = admin.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'lctl'"
        ).fetchone()
    return int(ended[0])


def test_many_threads_share_a_few_connections(store: PostgresStore) -> None:
    """Fifty that read at once all get what they ask for."""
    wrong: list[object] = []

    def read(start: int) -> None:
        for n in range(5):
            first = start * 100 + n + 1
            if list(store.read("run", first, first + 256)) != LINES[first - 1 : first + 255]:
                wrong.append(first)

    threads = [threading.Thread(target=read, args=(n,)) for n in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert 1 <= kill(store) <= 8


def test_a_connection_that_is_lost_is_replaced(store: PostgresStore) -> None:
    """What is read then fails at most once, and says so; those left alone for a while are asked."""
    for pause in (0.0, 1.1):
        assert kill(store) >= 1
        time.sleep(pause)
        failed = 0
        while True:
            try:
                assert list(store.read("run", 5, 400)) == LINES[4:399]
                break
            except StoreAway:
                failed += 1
        assert failed <= (0 if pause else 1)


def test_a_connection_that_dies_in_the_middle_of_a_read(store: PostgresStore) -> None:
    """The lines before are right, and no line is left out in silence."""
    lines = store.read("run")
    got = [next(lines)]
    kill(store)
    with pytest.raises(StoreAway):
        got += lines
    assert got == LINES[: len(got)]
    assert list(store.read("run")) == LINES


def test_a_chain_that_is_deleted_while_it_is_read(store: PostgresStore) -> None:
    """Its reader is told; one of the same name later is another chain."""
    lines = store.read("run")
    next(lines)
    store.delete("run")
    with pytest.raises(LogNotFound):
        list(lines)
    store.begin({"id": "run"})
    store.append("run", 1, LINES[:10])
    assert list(store.read("run", 1, 300)) == LINES[:10]


def test_all_connections_in_use(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said after a time; and there are some again once they are given back."""
    monkeypatch.setattr("lctl.stores.postgres._CONNECT_TIMEOUT", 1)
    store = open_store(postgres_url)
    assert isinstance(store, PostgresStore)
    try:
        store.begin({"id": "run"})
        store.append("run", 1, LINES)
        with ExitStack() as lent:
            for _ in range(8):
                lent.enter_context(store.reading())
            with pytest.raises(StoreAway, match="couldn't get a connection"):
                list(store.read("run", 1, 5))
        assert list(store.read("run", 1, 5)) == LINES[:4]
    finally:
        close_stores()


def test_a_statement_that_takes_too_long(store: PostgresStore) -> None:
    """Is an error of the store; the connection is good for the next."""
    with pytest.raises(StoreError, match="statement timeout"), store.reading() as work:
        work.run("SET statement_timeout = 50")
        work.run("SELECT pg_sleep(5)")
    with store.reading() as work:
        work.run("RESET statement_timeout")
    assert list(store.read("run", 1, 5)) == LINES[:4]


@pytest.mark.parametrize("dense", [False, True])
def test_a_line_of_30_megabytes(store: PostgresStore, dense: bool) -> None:
    """With what JSON may hold, it comes back whole."""
    text = secrets.token_hex(15 * BYTES).encode() if dense else b"x\\u0000\\ud800" * (30 * BYTES // 13)
    line = b'{"seq":9001,"type":"t","timestamp":"","agent":"","data":{"t":"' + text + b'"}}'
    assert store.append("run", 9001, [line]) == 9001
    assert list(store.read("run", 9000, 9002)) == [LINES[-1], line]


def test_what_is_closed_while_it_is_lent(store: PostgresStore) -> None:
    """Is closed when it comes back; the store opens again by being used."""
    with store.reading() as work:
        store.close()
        assert work.run("SELECT 1").fetchone() == (1,)
        connection = work._connection  # type: ignore[attr-defined]
    assert connection.closed
    assert list(store.read("run", 1, 5)) == LINES[:4]


def test_the_end_of_a_program_does_not_wait_for_a_server_that_says_nothing(postgres_url: str) -> None:
    """A thread that delivers does, for as long as it takes."""
    recording = open_store(postgres_url, create=True, recording=True)
    assert isinstance(recording, PostgresStore)
    asked = threading.Event()

    def ask() -> None:
        with recording.reading() as work:
            asked.set()
            work.run("SELECT pg_sleep(4)")

    thread = threading.Thread(target=ask)
    thread.start()
    asked.wait()
    began = time.monotonic()
    close_stores()
    assert time.monotonic() - began < 3
    thread.join()
    recording.close()
