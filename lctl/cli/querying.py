"""`lctl query`: SQL over a log at any event."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lctl.analysis.wording import compact, plain
from lctl.cli.options import screened
from lctl.cli.screen import Column, Piece, Screen
from lctl.elsewhere import is_elsewhere

if TYPE_CHECKING:
    from lctl.facts.sandbox import Answer

#: Seconds that a query over many logs may take, once they are read.
_FLEET_SECONDS = 60.0


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[TARGET...] SQL")
@click.option("--at", type=click.IntRange(0), metavar="N", help="As it was after event N.")
@click.option("--as", "agent", metavar="AGENT", help="With the confidence that AGENT may rely on.")
@click.option("-n", "--limit", type=click.IntRange(1), default=1000, show_default=True, help="Rows to print.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help="Time it may take: 5, or 60 over many logs, unless given.",
)
@screened()
def query(
    screen: Screen,
    words: tuple[str, ...],
    at: int | None,
    agent: str | None,
    limit: int,
    as_csv: bool,
    seconds: float | None,
) -> None:
    """Ask TARGET in SQL: its facts, steps, tools, messages, errors, events.

    \b
      lctl query "SELECT id, confidence, text FROM facts ORDER BY confidence"
      lctl query last "SELECT * WHERE source = 'static-analysis' AND confidence >= 0.7"
      lctl query run.lctl.json "SELECT text FROM facts WHERE relevance('SQL injection') > 0.5"
      lctl query --at 40 last "SELECT tool, count(*), avg(duration_ms) FROM tools GROUP BY tool"

    SQLite's SELECT, and nothing else of it: a query can only read, and stops after --seconds. JSON in columns
    (input, output, data) is taken apart with ->> ('$.path').

    A folder, a pattern, Parquet or more than one TARGET are asked together, by DuckDB (pip install
    'lctl[duckdb]'): the same tables, with a column run.

    \b
      lctl query '.lctl/*.json' "SELECT model, count(*), sum(input_tokens) FROM steps GROUP BY model"
    """
    from lctl.errors import UsageError

    *targets, sql = words
    if len(sql.split()) < 2:
        raise UsageError("query: give TARGET and one query; put the query in quotes")
    if len(targets) > 1 or (targets and _is_fleet(targets[0])):
        answer = _of_fleet(targets, sql, limit, seconds or _FLEET_SECONDS, at, agent)
    else:
        from lctl.cli.target import opened
        from lctl.facts.querying import query as asked
        from lctl.facts.sandbox import SECONDS

        log = opened(targets[0] if targets else "last")
        answer = asked(log, sql, at=at, agent=agent, limit=limit, seconds=seconds or SECONDS)
    if screen.json:
        screen.json_value({"columns": answer.columns, "rows": answer.dicts(), "more": answer.more})
    elif as_csv:
        screen.document(_csv(answer))
    else:
        _table(screen, answer)


def _is_fleet(target: str) -> bool:
    """Whether it names logs and not a log."""
    remote = target.startswith(("s3://", "gs://"))
    return remote or target.endswith(".parquet") or any(c in target for c in "*?[") or Path(target).is_dir()


def _of_fleet(
    targets: list[str], sql: str, limit: int, seconds: float, at: int | None, agent: str | None
) -> Answer:
    from lctl.errors import UsageError
    from lctl.warehouse import query_logs

    if at is not None or agent is not None:
        raise UsageError("--at and --as are for one log; in a query over logs use a column (seq, agent, run)")
    from lctl.cli.target import opened

    named = [target if _is_place(target) else opened(target) for target in targets]
    return query_logs(named, sql, limit=limit, seconds=seconds)


def _is_place(target: str) -> bool:
    """Whether it is a path, a glob or a URL, not the name of a run."""
    if Path(target).exists() or any(c in target for c in "*?["):
        return True
    return "://" in target and not is_elsewhere(target)


def _csv(answer: Answer) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows([_written(value) for value in row] for row in answer.rows)
    return text.getvalue()


def _table(screen: Screen, answer: Answer) -> None:
    if not answer.rows:
        screen.line(("No rows.", "dim"))
        return
    numeric = [
        all(isinstance(row[n], int | float | None) for row in answer.rows) for n in range(len(answer.columns))
    ]
    empty = [all(row[n] is None for row in answer.rows) for n in range(len(answer.columns))]
    shown = [n for n in range(len(answer.columns)) if not empty[n]] or list(range(len(answer.columns)))
    columns = [Column(plain(answer.columns[n], 40), right=numeric[n], flexible=not numeric[n]) for n in shown]
    rows: list[list[Piece]] = [[_cell(row[n]) for n in shown] for row in answer.rows]
    screen.table(columns, rows)
    if answer.more:
        screen.line((f"… more than {len(answer.rows):,} rows; --limit shows more", "dim"))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    return plain(_written(value))


def _written(value: object) -> object:
    """A value of DuckDB's as text, where JSON has none like it: a time, a span of time, a decimal; lists and
    structs as JSON."""
    if isinstance(value, str | int | float | bytes | None):
        return value
    return compact(value) if isinstance(value, list | dict) else str(value)
