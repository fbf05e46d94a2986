"""Tables: an older store becomes the newest, a newer one is refused, tenants see their own."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest

from lctl.errors import LogNotFound, StoreAway, StoreError, UnsupportedVersion
from lctl.stores import postgresschema, sqliteschema
from lctl.stores.address import parse
from lctl.stores.opening import close_stores, open_store
from lctl.stores.postgres import PostgresStore
from lctl.stores.sqlite import SqliteStore

EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("session_start", {"session_id": "s1", "conversation_id": "c1", "seed_messages": []}),
    (
        "message",
        {"message_id": "m", "session_id": "s1", "message_number": 1, "role": "user", "content": "hi"},
    ),
]
TIME = "2026-01-15T10:00:00.000000Z"
LINES = [
    orjson.dumps({"seq": n, "type": type, "timestamp": TIME, "agent": "a", "data": data})
    for n, (type, data) in enumerate(EVENTS, 1)
]
HEADER = '{"id": "old"}'


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_stores()


def old_sqlite(path: Path) -> None:
    """As the first version left it: no session rows, no words."""
    connection = sqlite3.connect(path)
    connection.executescript(sqliteschema.STEPS[0])
    connection.execute("PRAGMA user_version = 1")
    connection.execute(
        "INSERT INTO chains (id, header, first_seq, last_seq, bytes) VALUES ('old', ?, 1, 2, 9)", (HEADER,)
    )
    connection.execute("INSERT INTO chunks VALUES (1, 1, 2, 0, ?)", (b"\n".join(LINES),))
    connection.commit()
    connection.close()


def test_an_older_sqlite_store_is_migrated(tmp_path: Path) -> None:
    """Its chains are there, with the rows and words that newer ones have."""
    old_sqlite(tmp_path / "runs.db")
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    assert list(store.read("old")) == LINES
    (row,) = store.sessions("s1")
    assert (row.chain_id, row.to_message_number) == ("old", 1)
    assert [one.seq for one in store.search("hi")] == [2]


def test_a_newer_sqlite_store_is_refused(tmp_path: Path) -> None:
    """With what to do."""
    path = tmp_path / "runs.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UnsupportedVersion, match=r"version 99.*pip install -U lctl"):
        open_store(f"sqlite:///{path}")


def test_what_is_no_store(tmp_path: Path) -> None:
    """A file of something else, and one that is not there, are said in one line."""
    (tmp_path / "text.db").write_text("not a database at all, but long enough to be looked at" * 20)
    with pytest.raises(StoreError, match="not a database"):
        open_store(f"sqlite:///{tmp_path}/text.db")
    with pytest.raises(StoreError, match="no such file"):
        open_store(f"sqlite:///{tmp_path}/none.db")


@pytest.mark.parametrize(
    ("text", "scheme", "place", "chain"),
    [
        ("file:runs", "file", "runs", ""),
        ("file:///abs/runs#last~1", "file", "/abs/runs", "last~1"),
        ("memory:", "memory", "", ""),
        ("sqlite:///runs.db", "sqlite", "runs.db", ""),
        ("sqlite:////abs/runs.db?compress=zstd#a%23b", "sqlite", "/abs/runs.db", "a#b"),
        (
            "postgres://u:p@h/d?schema=s&sslmode=require#x",
            "postgresql",
            "postgresql://u:p@h/d?sslmode=require",
            "x",
        ),
    ],
)
def test_addresses(text: str, scheme: str, place: str, chain: str) -> None:
    """As they are written elsewhere."""
    found = parse(text)
    assert (found.scheme, found.place, found.chain) == (scheme, place, chain)


def test_a_password_is_not_shown() -> None:
    """Neither in the authority nor among the options."""
    shown = str(parse("postgresql://u:topsecret@h/d?password=topsecret&tenant=t#run"))
    assert "topsecret" not in shown
    assert shown.endswith("#run")


@pytest.mark.database
def test_an_older_postgresql_store_is_migrated(postgres_url: str) -> None:
    """As that of SQLite."""
    import psycopg

    address = parse(postgres_url)
    schema = address.option("schema")
    with psycopg.connect(address.place, autocommit=True) as connection:
        run: Any = connection.execute
        run(f"CREATE SCHEMA {schema}")
        run(f"CREATE TABLE {schema}.version (number integer NOT NULL)")
        run(f"INSERT INTO {schema}.version VALUES (1)")
        for statement in postgresschema.steps(schema)[0]:
            run(statement)
        run(
            f"INSERT INTO {schema}.chains (id, header, first_seq, last_seq) VALUES ('old', %s, 1, 2)",
            (HEADER,),
        )
        run(
            f"INSERT INTO {schema}.chunks (chain, first_seq, last_seq, form, body) VALUES (1, 1, 2, 0, %s)",
            (b"\n".join(LINES),),
        )
    store = open_store(postgres_url)
    assert list(store.read("old")) == LINES
    assert [row.to_message_number for row in store.sessions("s1")] == [1]
    assert [one.seq for one in store.search("hi")] == [2]
    with psycopg.connect(address.place, autocommit=True) as connection:
        run = connection.execute
        run(f"UPDATE {schema}.version SET number = 99")
    close_stores()
    with pytest.raises(UnsupportedVersion, match="version 99"):
        open_store(postgres_url)


@pytest.mark.database
def test_tenants_see_their_own(postgres_url: str) -> None:
    """Row-level security: a member's role sees nothing else, whatever it asks; and writes nothing else."""
    import psycopg

    owner = open_store(postgres_url)
    assert isinstance(owner, PostgresStore)
    address = parse(postgres_url)
    schema, roles = owner.schema, {name: f"{name}_{token_hex(4)}" for name in ("ann", "bob", "nobody")}
    with psycopg.connect(address.place, autocommit=True) as connection:
        for role in roles.values():
            run: Any = connection.execute
            run(f"CREATE ROLE {role} LOGIN PASSWORD 'x'")
    try:
        owner.admit(roles["ann"], "red")
        owner.admit(roles["bob"], "blue")
        urls = {name: postgres_url.replace("lctl:secret@", f"{role}:x@") for name, role in roles.items()}
        for name in ("ann", "bob"):
            store = open_store(urls[name])
            store.begin({"id": "run"})
            store.append("run", 1, LINES)
            store.append("run", 3, [line.replace(b'"seq":1', b'"seq":3') for line in LINES[:1]])
        assert open_store(urls["ann"]).delete("run")
        assert len(list(open_store(urls["bob"]).read("run"))) == 3
        with pytest.raises(LogNotFound):
            open_store(urls["ann"]).entry("run")
        with pytest.raises(LogNotFound):
            owner.entry("run")  # the owner works for the tenant it names
        assert open_store(f"{postgres_url}&tenant=blue").entry("run").events == 3
        with psycopg.connect(parse(urls["ann"]).place, autocommit=True) as connection:
            run = connection.execute
            run("SELECT set_config('lctl.tenant', 'blue', false)")
            for table in postgresschema.TABLES:
                assert run(f"SELECT count(*) FROM {schema}.{table}").fetchone() == (0,)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                run(f"INSERT INTO {schema}.chains (tenant, id, header) VALUES ('blue', 'x', '{{}}')")
        with pytest.raises(StoreError, match=r"permission denied|no member of a tenant"):
            open_store(urls["nobody"])
    finally:
        close_stores()
        with psycopg.connect(address.place, autocommit=True) as connection:
            run = connection.execute
            for role in roles.values():
                run(f"DROP OWNED BY {role}")
                run(f"DROP ROLE {role}")


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="POSIX")
@pytest.mark.parametrize("is_written", [False, True])
def test_a_file_that_one_may_only_read(is_written: bool) -> None:
    """It is read, also while its owner writes it; what would write says why not."""
    with TemporaryDirectory() as made:  # pytest's own folder is closed to other users
        place = Path(made)
        address = f"sqlite:///{place}/runs.db"
        owner = open_store(address, create=True)
        owner.begin({"id": "run"})
        owner.append("run", 1, [b'{"seq":1,"type":"a","timestamp":"","agent":"","data":{}}'])
        if not is_written:
            close_stores()
        for path in place.iterdir():
            path.chmod(0o444)
        place.chmod(0o555)
        is_root = os.geteuid() == 0
        try:
            if is_root:
                os.seteuid(65534)
            reader = SqliteStore(parse(address), create=False)
            assert [entry.id for entry in reader.entries()] == ["run"]
            assert len(list(reader.read("run"))) == 1
            with pytest.raises(StoreError, match="read-only here"):
                reader.begin({"id": "other"})
            reader.close()
        finally:
            if is_root:
                os.seteuid(0)
            place.chmod(0o755)
            close_stores()


def test_a_server_that_is_away() -> None:
    """Is said so, without the password."""
    pytest.importorskip("psycopg", reason="pip install 'lctl[postgres]'")
    with pytest.raises(StoreAway, match=r"127\.0\.0\.1") as caught:
        open_store("postgresql://u:topsecret@127.0.0.1:1/d")
    assert "topsecret" not in str(caught.value)
