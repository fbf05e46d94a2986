"""One query of somebody's, asked of DuckDB: it can only read what it was given, and comes to an end."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lctl.errors import UsageError
from lctl.facts.sandbox import Answer

if TYPE_CHECKING:
    import duckdb

#: What a query begins with. DuckDB calls some of these several statements (`PIVOT`), as it does what writes.
_QUERY = re.compile(r"(\s|--[^\n]*\n|/\*.*?\*/|\()*(SELECT|FROM|WITH|PIVOT|UNPIVOT)\b", re.I | re.S)


def ask(
    database: duckdb.DuckDBPyConnection, sql: str, files: Sequence[str], limit: int, seconds: float | None
) -> Answer:
    """The rows of one query.

    Args:
        files: Parquet that its tables are views of; it reaches no other file, and writes none.
        limit: rows to give.
        seconds: it may take.

    Raises:
        UsageError: it is wrong (where, DuckDB says), does something else than to ask, or takes longer.
    """
    import duckdb

    try:
        _check(database.extract_statements(sql), sql)
        _shut(database, files)
        with _limited(database, seconds):
            rows = database.execute(sql).fetchmany(limit + 1)
    except duckdb.InterruptException:
        raise UsageError(
            f"the query took longer than {seconds:g} s; ask for less, or allow more (--seconds)"
        ) from None
    except duckdb.Error as error:
        raise UsageError(said(error)) from None
    columns = [column[0] for column in database.description or ()]
    return Answer(columns, rows[:limit], len(rows) > limit)


def said(error: Exception) -> str:
    """DuckDB's message in one line, without the picture of the query below it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith(("LINE ", "^"))]
    return "; ".join(kept[:3]) or type(error).__name__


def _check(statements: list[Any], sql: str) -> None:
    """Raises UsageError unless it is one query."""
    if not statements:
        raise UsageError("there is no query; write SELECT ...")
    kinds = [str(one.type).rpartition(".")[2] for one in statements]
    # DuckDB 1 makes statements without a text of a PIVOT: the types that it needs, and the query.
    is_pivot = kinds.count("CREATE") == len(kinds) - 1 and not any(one.query for one in statements)
    if len(statements) > 1 and not is_pivot:
        raise UsageError(f"these are {len(statements)} statements; ask one query at a time")
    if kinds[-1] != "SELECT" and not (kinds[-1] == "MULTI" and _QUERY.match(sql)):
        raise UsageError(f"a query can only read: write SELECT ..., not {sql.split()[0][:40]}")


def _shut(database: duckdb.DuckDBPyConnection, files: Sequence[str]) -> None:
    """No file but these, and no change of that."""
    if files:
        database.execute(f"SET allowed_paths = [{', '.join(map(quoted, files))}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def quoted(text: str) -> str:
    """As a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def _limited(database: duckdb.DuckDBPyConnection, seconds: float | None) -> Iterator[None]:
    """Interrupt what runs on it after so many seconds."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, database.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
