"""One SQLite file for a folder of runs; `memory:` is the same without the file.

WAL: readers see whole transactions and never wait for the writer. Writers of several processes take
turns, each for the time of one commit of many events.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from lctl.clock import monotonic
from lctl.errors import StoreAway, StoreError
from lctl.stores.address import Address
from lctl.stores.chunks import WIDEST, Chunk, Packing
from lctl.stores.contract import Match
from lctl.stores.forkgate import ForkGate
from lctl.stores.sqliteschema import migrate
from lctl.stores.sqlreading import Work
from lctl.stores.sqlstore import SqlStore
from lctl.stores.texts import around, terms

#: How long a writer waits for another's commit, in seconds.
_PATIENCE = 30.0
_POLL = 0.05
#: How long closing the store waits for a thread that uses it.
_CLOSING = 1.0
#: Pages in the WAL before a commit brings them into the file: 64 MB. At the default of 4 MB every commit of
#: many events does so, and takes three times as long.
_WAL_PAGES = 16_000
_GATE = ForkGate()
#: Connections that a forked child has of its parent.
_OF_PARENT: list[sqlite3.Connection] = []


class SqliteStore(SqlStore):
    """The chains in one file.

    Args:
        create: make the file where there is none. Readers do not; they read one that they may not write, too.
    """

    def __init__(self, address: Address, *, create: bool = True) -> None:
        super().__init__(address, Packing(address.option("compress", "none")))
        self._in_memory = address.scheme == "memory"
        self._pid = os.getpid()
        self._own = threading.local()
        self._all: weakref.WeakSet[_Held] = weakref.WeakSet()
        self._listing = threading.Lock()  # of `_all`, taken inside the gate
        self._one = threading.RLock()  # in memory there is one connection, used by one thread at a time
        self._shared: _Held | None = None
        if not self._in_memory and not create and not Path(address.place).exists():
            raise StoreError(f"{address.shown}: no such file; a run recorded with this store makes it")
        self._read_only = not (create or self._in_memory or _is_writable(address.place))
        if create and not self._in_memory:
            Path(address.place).absolute().parent.mkdir(parents=True, exist_ok=True)
        try:
            with self._at_work() as connection:
                came = migrate(connection, address.shown)
        except BaseException:
            self.close()
            raise
        if 0 < came < 2:
            self.fold_sessions()

    # -- connections -------------------------------------------------------------------------

    @contextmanager
    def _at_work(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection; nobody forks or closes it meanwhile."""
        with self._one if self._in_memory else _NO_LOCK, _GATE, self._refusals(), self._used() as connection:
            yield connection

    @contextmanager
    def _used(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread, which nobody closes meanwhile. May be nested."""
        while True:
            held = self._held()
            with held.lock:
                if not held.is_closed:  # just now, by who closes the store
                    yield held.connection
                    return

    def _held(self) -> _Held:
        if self._in_memory:
            if self._shared is None or self._shared.is_closed:
                self._shared = self._connected(":memory:")
            return self._shared
        mine: _Held | None = getattr(self._own, "held", None)
        if mine is None or mine.is_closed or mine.pid != os.getpid():  # a connection must not cross a fork
            mine = self._own.held = self._connected(self.address.place)
        return mine

    def _connected(self, place: str) -> _Held:
        uri = _read_only_uri(place) if self._read_only else ""
        made = sqlite3.connect(
            uri or place, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, uri=bool(uri)
        )
        held = _Held(made)
        with held.lock:
            with self._listing:
                self._all.add(held)  # what is refused below is closed with the store
            if not self._read_only:
                made.execute("PRAGMA journal_mode = WAL")
                made.execute("PRAGMA synchronous = NORMAL")
                made.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        return held

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """What SQLite refuses, in our words."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "readonly" in str(error):
                said = "it cannot be written: its file or its folder is read-only here"
                raise StoreError(f"{self.address.shown}: {said}") from error
            away = "locked" in str(error) or "unable to open" in str(error)
            raise (StoreAway if away else StoreError)(f"{self.address.shown}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self.address.shown}: {error}") from error

    @contextmanager
    def reading(self) -> Iterator[Work]:
        with self._transaction("BEGIN") as work:
            yield work

    @contextmanager
    def writing(self) -> Iterator[Work]:
        with self._transaction("BEGIN IMMEDIATE") as work:
            yield work

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Work]:
        with self._at_work() as connection:
            connection.execute(begin)
            try:
                yield _Work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def finish(self, chain_id: str, tail: dict[str, Any]) -> None:
        """The commit of a chain's end, and with it all before, is on the disk when it returns."""
        if self._in_memory:
            super().finish(chain_id, tail)
            return
        with self._at_work() as connection:
            connection.execute("PRAGMA synchronous = FULL")
            try:
                super().finish(chain_id, tail)
            finally:
                connection.execute("PRAGMA synchronous = NORMAL")

    # -- following ---------------------------------------------------------------------------

    def wait(self, chain_id: str, after: int, timeout: float) -> int:
        until = monotonic() + timeout
        seen, last = None, self._known(chain_id)
        while True:
            with self._at_work() as connection:
                version = connection.execute("PRAGMA data_version").fetchone()[0]
            if version != seen or self._in_memory:
                seen, last = version, self._known(chain_id)
                if last.last > after or last.closed:
                    return last.last
            left = until - monotonic()
            if left <= 0:
                return last.last
            time.sleep(min(_POLL, left))

    # -- words -------------------------------------------------------------------------------

    def _index(self, work: Work, rows: list[tuple[int, int, str, str]]) -> None:
        work.many(
            "INSERT INTO @texts (chain, seq, kind, words, terms) VALUES (?, ?, ?, ?, ?)",
            [(*row, " ".join(terms(row[3]))) for row in rows],
        )

    def _found(self, work: Work, words: str, limit: int) -> list[Match]:
        asked = terms(words)
        if not asked:
            return []
        found = work.run(
            "SELECT c.id, t.seq, t.kind, t.words FROM texts t "
            "JOIN chains c ON c.num = t.chain WHERE texts MATCH ? ORDER BY rank LIMIT ?",
            "terms : (" + " ".join(f'"{term}"' for term in asked) + ")",
            limit,
        ).fetchall()
        return [Match(id, seq, kind, around(text, asked)) for id, seq, kind, text in found]

    def close(self) -> None:
        """Other threads' connections, too, when those are in no transaction (SQLite is not asked to free what
        it is at work with); one that lasts ends with its thread. Who comes back gets another."""
        with _GATE:
            with self._listing:
                known = list(self._all)
            for held in known:
                held.close_unused(_CLOSING)


def _is_writable(place: str) -> bool:
    """Whether a reader can have its place in the WAL, which is files beside this one."""
    effective = os.access in os.supports_effective_ids
    folder = os.path.dirname(os.path.abspath(place))  # noqa: PTH100, PTH120
    return all(os.access(one, os.W_OK, effective_ids=effective) for one in (place, folder))


def _read_only_uri(place: str) -> str:
    """As one that nobody writes, unless somebody who may is at it: then there is a WAL to be read, too."""
    found = Path(place).absolute()
    written = found.with_name(f"{found.name}-wal")
    is_quiet = not written.exists() or not written.stat().st_size
    return f"{found.as_uri()}?mode=ro{'&immutable=1' if is_quiet else ''}"


class _Held:
    """The connection of one thread; closed when the thread is gone."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.pid = os.getpid()
        self.lock = threading.RLock()  # of who uses it
        self.is_closed = False

    def close_unused(self, patience: float) -> None:
        """As `close`, unless another thread uses it for longer than `patience` seconds."""
        if self.pid != os.getpid():
            self.close()
        elif self.lock.acquire(timeout=patience):
            try:
                self.close()
            finally:
                self.lock.release()

    def close(self) -> None:
        self.is_closed = True
        if self.pid == os.getpid():
            self.connection.close()
        else:
            _OF_PARENT.append(self.connection)  # to close it here is not safe

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():
            self.close()


class _Work:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, *values: Any) -> Any:
        return self._connection.execute(_plain(sql), values)

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self._connection.executemany(_plain(sql), rows)

    def insert_chunks(self, num: int, chunks: list[Chunk]) -> None:
        self._connection.executemany(
            "INSERT INTO chunks (chain, first_seq, last_seq, form, body) VALUES (?, ?, ?, ?, ?)",
            [(num, *chunk) for chunk in chunks],
        )

    def chunks(self, num: int, start: int, stop: int) -> list[Chunk]:
        rows = self._connection.execute(
            "SELECT first_seq, last_seq, form, body FROM chunks "
            "WHERE chain = ? AND first_seq > ? AND first_seq < ? AND last_seq >= ? ORDER BY first_seq",
            (num, start - WIDEST, stop, start),
        )
        return [Chunk(*row) for row in rows]


@cache
def _plain(sql: str) -> str:
    return sql.replace("@", "").replace("{mine}", "").replace("{mine_of_c}", "")


class _NoLock:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


_NO_LOCK = _NoLock()
