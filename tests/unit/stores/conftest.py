"""Stores of every kind, each test in one of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

import pytest

from lctl.stores.contract import ChainStore
from lctl.stores.opening import close_stores, open_store
from tests import postgres

KINDS = ["file", "memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.database)]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server."""
    given = os.environ.get("LCTL_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    pytest.importorskip("psycopg", reason="pip install 'lctl[postgres]'")
    bin = postgres.programs()
    if bin is None:
        pytest.skip(postgres.MISSING)
    made = postgres.Server(bin)
    try:
        made.start()
        yield made.url
    finally:
        made.remove()


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A store's address on that server, in a schema of its own."""
    import psycopg

    base, schema = request.getfixturevalue("server"), f"t_{token_hex(6)}"
    yield f"{base}{'&' if urlsplit(base).query else '?'}schema={schema}"
    close_stores()
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store of each kind is."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("postgres_url"))
    places = {"file": f"file:{tmp_path}/runs", "memory": f"memory:{tmp_path.name}"}
    return places.get(request.param, f"sqlite:///{tmp_path}/runs.db")


@pytest.fixture
def store(address: str) -> Iterator[ChainStore]:
    yield open_store(address, create=True)
    close_stores()


@pytest.fixture
def another(address: str) -> Iterator[Callable[[], ChainStore]]:
    """The same store opened once more, as another process would."""

    def open() -> ChainStore:
        if not address.startswith("memory:"):
            close_stores()
        return open_store(address)

    yield open
    close_stores()
