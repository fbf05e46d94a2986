"""SQL over a run as it was at any seq, by the sandbox behind `lctl query`: it can only read."""

from __future__ import annotations

import shlex
import time
from typing import Any

from lctl.debugger.asking import OfRun
from lctl.debugger.failing import Refused
from lctl.debugger.opened import Opened
from lctl.debugger.shapes.findings import Table
from lctl.facts.facttable import COLUMNS
from lctl.facts.logtables import TABLES
from lctl.facts.querying import query

_ROWS = 1000
_SECONDS = 5.0
#: Columns whose value is the seq of an event.
_SEQS = ("seq", "modified", "added", "step")


class SqlAsked(OfRun, kw_only=True):
    sql: str
    at: int | None = None
    limit: int = _ROWS


def sql(run: Opened, asked: SqlAsked) -> Table:
    """The rows of one SELECT."""
    if not asked.sql.strip():
        raise Refused("bad_request", "there is no query; write SELECT ...")
    began = time.perf_counter()
    limit = max(1, min(asked.limit, _ROWS))
    found = query(run.log, asked.sql, at=asked.at, limit=limit, seconds=_SECONDS)
    return Table(
        columns=found.columns,
        rows=[[_cell(value) for value in row] for row in found.rows],
        more=found.more,
        seqs=next((found.columns.index(name) for name in _SEQS if name in found.columns), None),
        ms=(time.perf_counter() - began) * 1000,
        command=_command(run, asked),
    )


def tables() -> dict[str, list[str]]:
    """The tables there are, with their columns."""
    others = {name: [one.split()[0] for one in said.split(",")] for name, said in TABLES.items()}
    return {"facts": list(COLUMNS), **others}


def _cell(value: Any) -> Any:
    return f"({len(value)} bytes)" if isinstance(value, bytes) else value


def _command(run: Opened, asked: SqlAsked) -> str:
    at = ["--at", str(asked.at)] if asked.at is not None else []
    return shlex.join(["lctl", "query", *at, str(run.path), asked.sql])
