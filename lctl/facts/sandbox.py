"""A SQLite database in memory that queries can read, and do nothing else with.

An authorizer refuses every action but reading; sizes are limited, and a query that runs too long is
interrupted. What is wrong with a query is said with its position.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from weakref import finalize

from lctl.clock import system_clock
from lctl.errors import QueryError
from lctl.facts.formatting import printf
from lctl.facts.sqltext import place, pointed, tokens
from lctl.facts.textfunctions import instr, replace, trim

#: Of one query.
SECONDS = 5.0
ROWS = 10_000

_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
#: Functions that reach out of the database, or make much out of nothing.
_REFUSED = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "zeroblob", "randomblob"}
)
#: Bytes of a pattern of LIKE or GLOB: one comparison takes as long as text and pattern multiplied, seconds
#: for megabytes, and is not interrupted.
_PATTERN = 100
_LIMITS = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 10_000_000),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 50),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _PATTERN),
)
_STEPS = 4000  # of SQLite's machine between two looks at the clock: well under a millisecond
_NEAR = re.compile(r'near "(.*)": syntax error', re.DOTALL)
_NAMED = re.compile(r"(?:no such (?:column|table|function)|ambiguous column name): (\S+)")
_COUNTED = re.compile(r"wrong number of arguments to function (\w+)\(")


class Answer(NamedTuple):
    """Rows of a query; `more` when there were more than asked for."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool = False

    def dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class _Watch:
    """What SQLite asks while a query runs. Not the sandbox itself: the database would keep that alive."""

    def __init__(self) -> None:
        self.deadline = 0
        self.refusal = ""

    def refuse(self, why: str) -> None:
        self.refusal = why

    def is_late(self) -> int:
        return int(0 < self.deadline < system_clock.monotonic_ns())

    def authorize(
        self, action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
    ) -> int:
        if action in _ALLOWED:
            if action == sqlite3.SQLITE_READ and (first or "").startswith("sqlite_"):
                self.refusal = f"{first} cannot be read"
                return sqlite3.SQLITE_DENY
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            if (second or "").lower() not in _REFUSED:
                return sqlite3.SQLITE_OK
            self.refusal = f"{second}() cannot be used"
        elif action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            self.refusal = (
                "a query can only read; of the functions that make a table, json_each() and json_tree() do"
            )
        else:
            what = _ACTIONS.get(action, "do more than read")
            self.refusal = f"a query can only read; this one would {what}"
        return sqlite3.SQLITE_DENY


class Sandbox:
    """One database. Tables are written by `define` and `fill`; `ask` takes queries of anybody.

    Args:
        seconds: a query may take; measured on the wall clock.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._watch = _Watch()
        self.columns: dict[str, list[str]] = {}
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA trusted_schema=OFF")
        self._db.execute("PRAGMA temp_store=MEMORY")
        for limit, value in _LIMITS:
            self._db.setlimit(limit, value)
        # Made now, once: SQLite writes down their columns where a query would be refused to.
        self._db.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").close()
        for name in ("printf", "format"):
            self._db.create_function(name, -1, printf(self._watch.refuse))
        self._db.create_function("instr", 2, instr(self._watch.refuse), deterministic=True)
        self._db.create_function("replace", 3, replace(self._watch.refuse), deterministic=True)
        for name in ("trim", "ltrim", "rtrim"):
            for count in (1, 2):
                self._db.create_function(name, count, trim(name, self._watch.refuse), deterministic=True)
        self._db.set_progress_handler(self._watch.is_late, _STEPS)
        self._end = finalize(self, self._db.close)

    def define(self, table: str, columns: str, *, hidden: bool = False) -> None:
        """Create a table (again, empty); one that is hidden is not named in messages."""
        self._db.execute(f"DROP TABLE IF EXISTS {table}")
        self._db.execute(f"CREATE TABLE {table} ({columns})")
        if not hidden:
            self.columns[table] = [row[1] for row in self._db.execute(f"PRAGMA table_xinfo({table})")]

    def fill(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one of our own statements for many rows."""
        self._watch.deadline = 0
        self._db.execute("BEGIN")
        try:
            self._db.executemany(statement, rows)
        finally:
            self._db.execute("COMMIT")

    def function(self, name: str, arguments: int, function: Callable[..., Any]) -> None:
        self._db.create_function(name, arguments, function, deterministic=True)

    def takes(self, sql: str) -> bool:
        """Whether this is a query that may be asked; it is not run."""
        self._db.set_authorizer(self._watch.authorize)
        try:
            self._db.execute(f"EXPLAIN {sql}").close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
            return False
        finally:
            self._db.set_authorizer(None)
        return True

    def ask(self, sql: str, most: int = ROWS, *, said: str | None = None) -> Answer:
        """The rows of one SELECT.

        Args:
            said: the query as its author wrote it, for messages.

        Raises:
            QueryError: it is no query, would do more than read, or takes too long.
        """
        said = sql if said is None else said
        self._watch.refusal = ""
        self._watch.deadline = system_clock.monotonic_ns() + int(self.seconds * 1e9)
        self._db.set_authorizer(self._watch.authorize)
        try:
            cursor = self._db.execute(sql)
            if cursor.description is None:
                raise QueryError("there is no query; write SELECT ...")
            rows = cursor.fetchmany(most + 1)
            columns = _unique([column[0] for column in cursor.description])
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise self._explained(said, error) from None
        finally:
            self._db.set_authorizer(None)
            self._watch.deadline = 0
        return Answer(columns, rows[:most], len(rows) > most)

    # -- what is wrong with a query ----------------------------------------------------------------

    def _explained(self, sql: str, error: BaseException) -> QueryError:
        text = str(error)
        if self._watch.refusal:
            return QueryError(self._watch.refusal)
        if text == "interrupted":
            return QueryError(
                f"the query took longer than {self.seconds:g} s; ask for less, or join on fewer rows"
            )
        if "number of bindings" in text:
            return QueryError(
                "a query has no parameters; write the value into it: 'text', with each ' doubled"
            )
        if "one statement at a time" in text:
            return QueryError("one query at a time: there is a second statement behind the first")
        if "pattern too complex" in text:
            return QueryError(
                f"a pattern of LIKE or GLOB has at most {_PATTERN} bytes; "
                "instr(column, 'text') > 0 finds a longer text"
            )
        if "too big" in text or "too large" in text:
            return QueryError(f"the query makes a value that is too large ({text})")
        position = _position(sql, text)
        if text == "incomplete input":
            text = "the query ends too early"
        if "FTS" in text or "user-defined function" in text:
            text = "relevance() could not be worked out"
        hint = self._hint(text, sql)
        if position is None:
            return QueryError(f"{text}{hint}")
        return QueryError(f"{place(sql, position)}: {text}{hint}", position, pointed(sql, position))

    def _hint(self, text: str, sql: str) -> str:
        named = _NAMED.search(text)
        if named is None or not text.startswith("no such"):
            return ""
        from difflib import get_close_matches

        if "function" in text:
            return ""
        tables = list(self.columns)
        asked = [table for table in tables if re.search(rf"\b{table}\b", sql, re.IGNORECASE)] or tables
        known = tables if "table" in text else [name for table in asked for name in self.columns[table]]
        name = named[1].rpartition(".")[2]
        close = get_close_matches(name, known, n=1)
        if close:
            return f"; did you mean {close[0]!r}?"
        return f"; there are {', '.join(dict.fromkeys(known))}"


def _position(sql: str, text: str) -> int | None:
    """Where the trouble is, from SQLite's words: it names the piece, and not its place."""
    if text == "incomplete input":
        return len(sql.rstrip())
    found = _NEAR.search(text) or _NAMED.search(text) or _COUNTED.search(text)
    if found is None:
        unrecognized = re.search(r'unrecognized token: "(.*)"', text, re.DOTALL)
        return sql.find(unrecognized[1]) if unrecognized and unrecognized[1] in sql else None
    wanted = found[1]
    last = wanted.rpartition(".")[2].lower()
    pieces = tokens(sql)
    fitting = [one for one in pieces if one.text == wanted or one.word.strip('"`[]') == last]
    if not fitting:
        return None
    return (_misplaced(pieces, fitting) if _NEAR.search(text) else fitting[0]).start


def _misplaced(pieces: list[Any], fitting: list[Any]) -> Any:
    """Of several pieces alike, the one up to which nothing else is wrong: a prefix of the query ending in
    front of it is only incomplete."""
    probe = sqlite3.connect(":memory:")
    try:
        for one in fitting:
            n = pieces.index(one)
            try:
                probe.execute("EXPLAIN " + " ".join(piece.text for piece in pieces[: n + 1]))
            except sqlite3.Error as error:
                if "syntax error" in str(error):
                    return one
    finally:
        probe.close()
    return fitting[0]


def _unique(columns: list[str]) -> list[str]:
    """Names of columns, a number behind one that comes again."""
    seen: dict[str, int] = {}
    made = []
    for name in columns:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return made


_ACTIONS = {
    sqlite3.SQLITE_ATTACH: "attach another database",
    sqlite3.SQLITE_DETACH: "detach a database",
    sqlite3.SQLITE_PRAGMA: "set a pragma",
    sqlite3.SQLITE_INSERT: "insert rows",
    sqlite3.SQLITE_UPDATE: "change rows",
    sqlite3.SQLITE_DELETE: "delete rows",
    sqlite3.SQLITE_TRANSACTION: "begin or end a transaction",
    sqlite3.SQLITE_SAVEPOINT: "set a savepoint",
    sqlite3.SQLITE_CREATE_TABLE: "create a table",
    sqlite3.SQLITE_CREATE_VIEW: "create a view",
    sqlite3.SQLITE_CREATE_INDEX: "create an index",
    sqlite3.SQLITE_CREATE_TRIGGER: "create a trigger",
    sqlite3.SQLITE_CREATE_VTABLE: "create a table",
    sqlite3.SQLITE_DROP_TABLE: "drop a table",
    sqlite3.SQLITE_DROP_VIEW: "drop a view",
    sqlite3.SQLITE_ALTER_TABLE: "alter a table",
    sqlite3.SQLITE_ANALYZE: "analyze",
    sqlite3.SQLITE_REINDEX: "reindex",
}
