"""SQL over many logs, and over what was exported of them: DuckDB reads, lctl gives it the tables."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lctl.codec import open_log
from lctl.codec.log import Log
from lctl.elsewhere import is_elsewhere
from lctl.errors import LctlError, LogError, LogNotFound, MissingExtra, NotALog
from lctl.notices import tell
from lctl.warehouse.asking import ask, quoted, said
from lctl.warehouse.copies import drop_copies
from lctl.warehouse.parquet import arrow, arrow_schema, batches, filesystem_of, refusals
from lctl.warehouse.views import VIEWS

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from lctl.facts.sandbox import Answer


class _Given(NamedTuple):
    """A log, its path or address.

    Attributes:
        is_named: it was asked for by its name, and not found in a folder or by a glob.
    """

    log: str | Log
    is_named: bool


#: Rows that are given where nobody asks for more.
ROWS = 10_000
_SUFFIXES = (".lctl.json", ".lctl.jsonl", ".lctl.yaml", ".lctl.json.gz", ".lctl.json.zst")


def query_logs(
    paths: Sequence[str | Log], sql: str, *, limit: int = ROWS, seconds: float | None = None
) -> Answer:
    """The rows of one query over logs: tables events, steps, tools, messages, errors, facts and runs.

    Args:
        paths: logs, folders of them, globs (`runs/**/*.json`), runs in stores (`sqlite:///runs.db#ID`), and
            Parquet that `lctl export` wrote: files, datasets, URLs of s3://, gs:// and what else fsspec has.
        limit: rows to give.
        seconds: the query may take, once the logs are read; None for as long as it takes.

    Raises:
        MissingExtra: DuckDB or pyarrow is not installed.
        LogNotFound: there is no such file or run, or no log at those paths.
        LogError: what is there cannot be read.
        UsageError: the query is wrong (where, DuckDB says), does more than to read, or takes too long.
    """
    duckdb = _duckdb()
    logs, parquet = _places(paths)
    with duckdb.connect(":memory:") as database:
        try:
            files = [place for given in parquet for place in _within(database, given)]
            _load(database, logs, files)
            for name, view in VIEWS.items():
                database.execute(f"CREATE VIEW {name} AS {view}")
        except duckdb.Error as error:
            raise LogError(f"{_shown(paths)}: {said(error)}") from None
        return ask(database, sql, files, limit, seconds)


def _load(database: duckdb.DuckDBPyConnection, logs: list[_Given], files: list[str]) -> None:
    """The table `events`: rows of logs, and a view of Parquet."""
    failed: list[LctlError] = []
    reader = arrow().RecordBatchReader.from_batches(arrow_schema(), _batches(logs, failed))
    database.register("given", reader)
    database.execute("CREATE TABLE logged AS SELECT * FROM given")
    database.unregister("given")
    if failed:
        raise failed[0]
    # Python gets a time without a zone: with one, DuckDB needs yet another package.
    utc = '* REPLACE (make_timestamp(epoch_us("timestamp")) AS "timestamp")'
    both = f"SELECT {utc} FROM logged"
    if files:
        # Each view is bound to its columns when it is made: footers of thousands of files are read once.
        database.execute("SET parquet_metadata_cache = true")
        listed = ", ".join(map(quoted, files))
        source = f"read_parquet([{listed}], union_by_name = true, filename = true)"
        read = f"SELECT {_columns(database, source)} FROM {source} p"
        if drop_copies(database, files):
            read += " WHERE NOT EXISTS (SELECT 1 FROM left_out o WHERE o.file = p.filename AND o.run = p.run)"
        both += f" UNION ALL SELECT {utc} FROM ({read})"
    database.execute(f"CREATE VIEW events AS {both}")


def _columns(database: duckdb.DuckDBPyConnection, source: str) -> str:
    """Those of an event. What an older lctl did not write is empty.

    Raises:
        LogError: it is no export of lctl's.
    """
    there = {row[0] for row in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    if missing := [name for name in ("run", "seq", "type", "timestamp", "data") if name not in there]:
        raise LogError(f"Parquet that is no export of lctl's: there is no column {missing[0]!r} in it")
    types = dict(database.execute("SELECT column_name, column_type FROM (DESCRIBE logged)").fetchall())
    return ", ".join(
        f'"{name}"' if name in there else f'NULL::{types[name]} AS "{name}"' for name in arrow_schema().names
    )


def _within(database: duckdb.DuckDBPyConnection, place: str) -> list[str]:
    """The files at a path or glob. What is elsewhere is read through fsspec, with the packages and
    credentials that wrote it: DuckDB's own ways are extensions that it would fetch.

    Raises:
        LogNotFound: there is nothing.
        LogError: it cannot be reached.
    """
    if "://" not in place:
        return sorted(glob.glob(place, recursive=True)) if glob.has_magic(place) else [place]  # noqa: PTH207
    filesystem, path = filesystem_of(place, own=True)
    # gcsfs reads ahead in tasks of a loop, which DuckDB leaves running.
    filesystem.open = partial(filesystem.open, cache_type="readahead")
    with refusals(place, "read"):
        found = [str(one) for one in filesystem.glob(path)]
    if not found:
        raise LogNotFound(f"{place}: no Parquet file there")
    database.register_filesystem(filesystem)
    scheme = place.partition("://")[0]
    return [f"{scheme}://{one}" for one in found]


def _batches(logs: list[_Given], failed: list[LctlError]) -> Iterator[pa.RecordBatch]:
    """The events of the logs; the first that cannot be read ends them (DuckDB would make another error of an
    exception)."""
    try:
        for log in _runs(logs):
            yield from batches(_opened(log))
    except LctlError as error:
        failed.append(error)


def _runs(logs: list[_Given]) -> list[str | Log]:
    """The logs, of each run one: its longest copy. Another run of the same id is left out, and said. Among
    those of a folder or a glob, what is no log is passed over."""
    found: dict[str, tuple[str | Log, str, int, bytes]] = {}  # id -> log, its name, last seq, first event
    for given in logs:
        try:
            log = _opened(given.log)
            first = next(iter(log.lines()), b"")
        except NotALog:
            if not given.is_named and len(logs) > 1:
                continue
            raise
        name = given.log if isinstance(given.log, str) else log.name
        here = (given.log, name, log.last_seq, first)
        _, other, last, begins = found.setdefault(log.id or name, here)
        if begins != first and begins and first:
            tell(f"lctl: {name} is left out: {other} is another run of the same id, {log.id}\n")
        elif log.last_seq > last:
            found[log.id or name] = here
    return [held[0] for held in found.values()]


def _opened(log: str | Log) -> Log:
    return open_log(log) if isinstance(log, str) else log


def _shown(paths: Sequence[str | Log]) -> str:
    return ", ".join(path if isinstance(path, str) else path.name for path in paths)


def _places(paths: Sequence[str | Log]) -> tuple[list[_Given], list[str]]:
    """(logs, Parquet) at the paths.

    Raises:
        LogNotFound: a path that is named is not there, or there is nothing at all of these.
    """
    logs: dict[str | Log, bool] = {}
    parquet: list[str] = []
    for given in paths:
        if not isinstance(given, str) or (is_elsewhere(given) and not given.startswith("memory:")):
            logs[given] = True  # memory:// is fsspec's here
            continue
        if "://" in given:
            parquet.append(given if given.endswith(".parquet") else f"{given.rstrip('/')}/**/*.parquet")
            continue
        is_glob = glob.has_magic(given) and not Path(given).exists()
        found = sorted(glob.glob(given, recursive=True)) if is_glob else [given]  # noqa: PTH207
        for place in found:
            path = Path(place)
            if path.is_dir():
                for one in sorted(path.rglob("*")):
                    if one.name.endswith(_SUFFIXES):
                        logs.setdefault(str(one), False)
                if any(path.rglob("*.parquet")):
                    parquet.append(f"{place.rstrip('/')}/**/*.parquet")
            elif not path.exists():
                raise LogNotFound(f"{place}: no such file")
            elif path.suffix == ".parquet":
                parquet.append(place)
            else:
                logs[place] = logs.get(place, False) or not is_glob
    if not logs and not parquet:
        raise LogNotFound(f"{_shown(paths)}: no log there")
    return [_Given(log, is_named) for log, is_named in logs.items()], parquet


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("a query over many logs", "duckdb") from None
    return duckdb
