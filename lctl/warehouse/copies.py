"""Runs that are in several places at once, logs and Parquet: each counts once, by its longest copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lctl.notices import tell
from lctl.warehouse.asking import quoted

if TYPE_CHECKING:
    import duckdb

#: Of each copy of a run: how far it goes, and its first event, which no other run of the same id has.
_COPY = """max(seq) AS last, arg_min(type, seq) AS type, arg_min("timestamp", seq) AS at,
           arg_min(data, seq) AS data"""


def drop_copies(database: duckdb.DuckDBPyConnection, files: Sequence[str]) -> bool:
    """Make the table `left_out` (file, run) of copies in Parquet, and take those in `logged` away; whether
    some in Parquet are left out.

    Which runs a file has is in its footer, so that events are looked at only for runs that are there twice.
    """
    doubles = _doubles(database, files)
    if not doubles:
        return False
    runs = ", ".join(map(quoted, doubles))
    listed = ", ".join(map(quoted, sorted({file for held in doubles.values() for file in held})))
    copies = database.execute(f"""
        SELECT run, '' AS file, {_COPY} FROM logged WHERE run IN ({runs}) GROUP BY run
        UNION ALL
        SELECT run, filename AS file, {_COPY}
        FROM read_parquet([{listed}], union_by_name = true, filename = true)
        WHERE run IN ({runs}) GROUP BY run, filename
        ORDER BY run, file""").fetchall()
    stand: dict[str, tuple[str, int, tuple[object, ...]]] = {}
    out: list[tuple[str, str]] = []
    for run, file, last, *first in copies:
        held = stand.setdefault(run, (file, last, tuple(first)))
        if held[0] == file:
            continue
        if held[2] != tuple(first):
            tell(f"lctl: {file} is left out: {held[0] or 'a log'} is another run of the same id, {run}\n")
        elif last > held[1]:
            stand[run] = (file, last, held[2])
            file = held[0]
        out.append((file, run))
    for run in (run for file, run in out if not file):
        database.execute("DELETE FROM logged WHERE run = ?", [run])
    database.execute("CREATE TABLE left_out (file VARCHAR, run VARCHAR)")
    database.executemany("INSERT INTO left_out VALUES (?, ?)", out)
    return True


def _doubles(database: duckdb.DuckDBPyConnection, files: Sequence[str]) -> dict[str, list[str]]:
    """Run -> the files it is in, of runs that are there more than once."""
    if not files:
        return {}
    listed = ", ".join(map(quoted, files))
    footers = database.execute(f"SELECT file_name, key FROM parquet_kv_metadata([{listed}])").fetchall()
    held: dict[str, list[str]] = {}
    for file, key in footers:
        mark, _, run = bytes(key).decode("utf-8", "replace").partition(":")
        if mark == "chain":
            held.setdefault(run, []).append(file)
    places = Counter({run: len(of_run) for run, of_run in held.items()})
    places.update(run for (run,) in database.execute("SELECT DISTINCT run FROM logged").fetchall())
    return {run: of_run for run, of_run in held.items() if places[run] > 1}
