"""A PostgreSQL store, by psycopg 3: for many processes on many machines.

Chunks go in by COPY; a reader that waits for a chain is woken by NOTIFY.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from lctl.clock import monotonic
from lctl.errors import MissingExtra, StoreAway, StoreError
from lctl.stores import postgresschema
from lctl.stores.address import Address
from lctl.stores.chunks import WIDEST, Chunk, Packing
from lctl.stores.contract import Match
from lctl.stores.sqlreading import Work
from lctl.stores.sqlstore import SqlStore
from lctl.stores.texts import around, terms

_CONNECT_TIMEOUT = 5
_POOL = 8
#: Seconds that closing waits for a thread that uses the connection.
_CLOSING = 1.0
#: Seconds after its last use that a connection is not asked whether it lives.
_TRUSTED = 1.0
_SILENT = logging.NullHandler()
_SETTINGS = {"autocommit": True, "application_name": "lctl"}


class PostgresStore(SqlStore):
    """The chains of one tenant in one database.

    Args:
        pooled: share a few connections among threads. Without, there is one, and no thread of ours: what
            a recording program has.
    """

    for_update = " FOR UPDATE"

    def __init__(self, address: Address, *, pooled: bool = True) -> None:
        super().__init__(address, Packing(address.option("compress", "zstd")))
        self._psycopg = _psycopg()
        self.schema = address.option("schema", "lctl")
        # What the URL says itself stands.
        timeout = {} if "connect_timeout=" in address.place else {"connect_timeout": _CONNECT_TIMEOUT}
        self._settings = {**_SETTINGS, **timeout}
        self._tenant = address.option("tenant")
        self._pooled = pooled
        self._pool: Any = None
        self._one: Any = None
        self._turn = threading.RLock()
        self._pid = os.getpid()
        with self._refusals(), self._lent() as connection:
            came = postgresschema.migrate(connection, self.schema, address.shown)
            self._mine = self._my_tenant(connection)
            active = f"SELECT row_security_active('{self.schema}.chunks')"
            found: Any = connection.execute(active).fetchone()
            self._copies = not found[0]
        if 0 < came < 2:
            self.fold_sessions()

    # -- connections -------------------------------------------------------------------------

    def _my_tenant(self, connection: Any) -> str:
        found = connection.execute(f"SELECT {self.schema}.tenant()").fetchone()
        if found is None or found[0] is None:
            raise StoreError(
                f"{self.address.shown}: this role is no member of a tenant; the schema's owner makes it one: "
                "open_store(...).admit(ROLE, TENANT)"
            )
        if self._tenant and found[0] != self._tenant:
            raise StoreError(f"{self.address.shown}: this role is of another tenant than {self._tenant!r}")
        return str(found[0])

    def _connected(self) -> Any:
        made = self._psycopg.connect(self.address.place, **self._settings)
        self._configure(made)
        return made

    def _configure(self, connection: Any) -> None:
        connection.execute("SELECT set_config('lctl.tenant', %s, false)", (self._tenant,))
        # Planning for each value anew looks at every partition: 0.3 ms of a read that takes 0.1.
        connection.execute("SET plan_cache_mode = force_generic_plan")

    @contextmanager
    def _lent(self) -> Iterator[Any]:
        if self._pooled:
            pool = self._opened_pool()
            connection = pool.getconn()
            try:  # `pool.connection()` would commit as well, which costs as much as the pool does
                yield connection
            finally:
                pool.putconn(connection)
            return
        with self._turn:
            if self._one is None or self._one.closed or self._pid != os.getpid():
                self._one, self._pid = self._connected(), os.getpid()
            yield self._one

    def _opened_pool(self) -> Any:
        with self._turn:
            if self._pool is None or self._pid != os.getpid():  # a connection must not cross a fork
                from psycopg_pool import ConnectionPool

                self._connected().close()  # a pool would go on trying; and would not say why
                self._pid = os.getpid()
                self._pool = ConnectionPool(
                    self.address.place,
                    min_size=0,
                    max_size=_POOL,
                    timeout=_CONNECT_TIMEOUT,
                    num_workers=1,
                    kwargs=self._settings,
                    configure=self._configure,
                    check=_check,
                    open=True,
                )
            return self._pool

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """What the server or libpq refuses, in our words."""
        psycopg = self._psycopg
        try:
            yield
        except psycopg.Error as error:
            text = (str(error).strip() or type(error).__name__).splitlines()[0]
            away = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
            raise (StoreAway if away else StoreError)(f"{self.address.shown}: {text}") from error

    @contextmanager
    def reading(self) -> Iterator[Work]:
        with self._refusals(), self._lent() as connection:
            yield _Work(connection, self._macros, False)

    @contextmanager
    def writing(self) -> Iterator[Work]:
        with self._refusals(), self._lent() as connection, connection.transaction():
            yield _Work(connection, self._macros, self._copies)

    @property
    def _macros(self) -> tuple[str, str]:
        return self.schema, self._mine

    def _lock_new(self, work: Work, chain_id: str) -> None:
        work.run("SELECT pg_advisory_xact_lock(hashtext(?), hashtext(?))", self._mine, chain_id)

    # -- following ---------------------------------------------------------------------------

    def _told(self, work: Work, num: int, last: int) -> None:
        work.run("SELECT pg_notify(?, ?)", self._channel(num), str(last))

    def _channel(self, num: int) -> str:
        return f"{self.schema[:40]}_{num}"  # a name has 63 bytes; another schema's of it only wakes

    def wait(self, chain_id: str, after: int, timeout: float) -> int:
        until = monotonic() + timeout
        head = self._known(chain_id)
        if head.last > after or head.closed:
            return head.last
        with self._refusals(), self._lent() as connection:
            connection.execute(f"LISTEN {self._channel(head.num)}")
            try:
                found = self._head(_Work(connection, self._macros, False), chain_id)
                if found is not None and found.last <= after and not found.closed:
                    left = max(until - monotonic(), 0.001)
                    for _ in connection.notifies(timeout=left, stop_after=1):
                        pass
            finally:
                connection.execute(f"UNLISTEN {self._channel(head.num)}")
        return self._known(chain_id).last

    # -- words -------------------------------------------------------------------------------

    def _index(self, work: Work, rows: list[tuple[int, int, str, str]]) -> None:
        work.many(
            "INSERT INTO @texts (chain, seq, kind, words, terms) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            [(*row, " ".join(terms(row[3]))) for row in rows],
        )

    def _found(self, work: Work, words: str, limit: int) -> list[Match]:
        asked = terms(words)
        found = work.run(
            "SELECT c.id, t.seq, t.kind, t.words "
            "FROM @texts t JOIN @chains c ON c.num = t.chain, plainto_tsquery('simple', ?) q "
            "WHERE {mine_of_c} t.vector @@@ q ORDER BY ts_rank(t.vector, q) DESC, c.num, t.seq LIMIT ?",
            " ".join(asked),
            limit,
        ).fetchall()
        return [Match(id, seq, kind, around(text, asked)) for id, seq, kind, text in found]

    # -- tenants -----------------------------------------------------------------------------

    def admit(self, role: str, tenant: str) -> None:
        """Let a role of the database use the store as a member of `tenant`: it sees nothing else."""
        from psycopg import sql

        with self._refusals(), self._lent() as connection, connection.transaction():
            connection.execute(
                f"INSERT INTO {self.schema}.members VALUES (%s, %s) "
                "ON CONFLICT (role) DO UPDATE SET tenant = excluded.tenant",
                (role, tenant),
            )
            for statement in postgresschema.admission(self.schema):
                text: Any = statement
                connection.execute(sql.SQL(text).format(role=sql.Identifier(role)))

    def close(self) -> None:
        if self._pid != os.getpid() or not self._turn.acquire(timeout=_CLOSING):
            return  # a thread waits for a server that says nothing: the program's end must not
        try:
            if self._pool is not None:
                self._pool.close()
            if self._one is not None:
                self._one.close()
            self._pool = self._one = None
        finally:
            self._turn.release()


def _check(connection: Any) -> None:
    """Whether a connection that was not used for some seconds still is one."""
    from psycopg_pool import ConnectionPool

    now, used = monotonic(), getattr(connection, "lctl_used", 0.0)
    connection.lctl_used = now
    if now - used > _TRUSTED:
        ConnectionPool.check_connection(connection)


class _Work:
    def __init__(self, connection: Any, macros: tuple[str, str], copies: bool) -> None:
        self._connection = connection
        self._macros = macros
        self._copies = copies

    def run(self, sql: str, *values: Any) -> Any:
        text: Any = _written(sql, *self._macros)
        return self._connection.execute(text, values, binary=True)

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        text: Any = _written(sql, *self._macros)
        with self._connection.cursor() as cursor:
            cursor.executemany(text, rows)

    def insert_chunks(self, num: int, chunks: list[Chunk]) -> None:
        """By COPY; a member of a tenant by INSERT, as COPY knows no row-level security."""
        schema = self._macros[0]
        columns = "(chain, first_seq, last_seq, form, body)"
        with self._connection.cursor() as cursor:
            if not self._copies or len(chunks) == 1:
                insert: Any = f"INSERT INTO {schema}.chunks {columns} VALUES (%s, %s, %s, %s, %b)"
                cursor.executemany(insert, [(num, *chunk) for chunk in chunks])
                return
            copying: Any = f"COPY {schema}.chunks {columns} FROM STDIN (FORMAT binary)"
            with cursor.copy(copying) as copy:
                copy.set_types(("int8", "int8", "int8", "int2", "bytea"))
                for chunk in chunks:
                    copy.write_row((num, *chunk))

    def chunks(self, num: int, start: int, stop: int) -> list[Chunk]:
        """The chain stands in the statement: a plan that does not know it locks and opens every partition."""
        text: Any = (
            f"SELECT first_seq, last_seq, form, body FROM {self._macros[0]}.chunks "
            f"WHERE chain = {num:d} AND first_seq > %s AND first_seq < %s AND last_seq >= %s "
            "ORDER BY first_seq"
        )
        found = self._connection.execute(text, (start - WIDEST, stop, start), binary=True)
        return [Chunk(*row) for row in found.fetchall()]  # one by one they cost a fifth more


@cache
def _written(sql: str, schema: str, tenant: str) -> str:
    quoted = "'" + tenant.replace("'", "''").replace("%", "%%") + "'"
    text = sql.replace("%", "%%").replace("@@@", "\0").replace("@", f"{schema}.").replace("\0", "@@")
    text = text.replace("?", "%s")
    return text.replace("{mine}", f"tenant = {quoted} AND").replace("{mine_of_c}", f"c.tenant = {quoted} AND")


def _psycopg() -> Any:
    try:
        import psycopg
        import psycopg_pool  # noqa: F401
    except ImportError:
        raise MissingExtra("a PostgreSQL store", "postgres") from None
    # What the pool logs of a server that is away is said by our errors; a program that logs still gets it.
    logging.getLogger("psycopg.pool").addHandler(_SILENT)
    return psycopg
