"""A query over many logs or over Parquet can only read what it was given, and comes to an end."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="needs lctl[parquet]")
pytest.importorskip("duckdb", reason="needs lctl[duckdb]")

from lctl.errors import UsageError
from lctl.warehouse import query_logs, write_dataset
from tests.unit.otel.logs import record


@pytest.fixture(params=["logs", "parquet"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    log = record(tmp_path / "runs" / "run-1.lctl.json", chain_id="run-1")
    if request.param == "logs":
        return str(tmp_path / "runs")
    write_dataset([log], str(tmp_path / "lake"))
    return str(tmp_path / "lake")


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT nope FROM steps", 'Referenced column "nope" not found'),
        ("COPY steps TO '{out}'", "can only read.*not COPY"),
        ("COPY (PIVOT steps ON kind USING count(*)) TO '{out}'", "can only read.*not COPY"),
        ("COPY steps TO '{given}' (FORMAT parquet, USE_TMP_FILE false)", "can only read.*not COPY"),
        ("EXPLAIN ANALYZE COPY steps TO '{out}'", "can only read.*not EXPLAIN"),
        ("EXPORT DATABASE '{out}'", "can only read.*not EXPORT"),
        ("ATTACH '{out}'", "can only read.*not ATTACH"),
        ("CREATE TABLE mine AS SELECT 1", "can only read.*not CREATE"),
        ("SET enable_external_access = true", "can only read.*not SET"),
        ("SELECT 1; COPY steps TO '{out}'", "2 statements"),
        ("SELECT * FROM read_csv('/etc/hostname')", "disabled by configuration"),
        ("SELECT * FROM '/etc/hostname.parquet'", "disabled by configuration"),
        ("", "there is no query"),
        ("-- nothing", "there is no query"),
    ],
)
def test_a_wrong_query_is_one_line_and_writes_nothing(
    place: str, tmp_path: Path, sql: str, says: str
) -> None:
    """What DuckDB says of it; other files are no business of a query, nor is any for writing."""
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    given = next(path for path in before if str(path).startswith(place))
    with pytest.raises(UsageError, match=says) as raised:
        query_logs([place], sql.format(out=tmp_path / "out", given=given))
    assert "\n" not in str(raised.value)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM steps WHERE kind = 'llm'",
        "-- calls\nSELECT count(*) FROM steps WHERE kind = 'llm';",
        "FROM steps SELECT count(*) WHERE kind = 'llm'",
        "WITH calls AS (FROM steps WHERE kind = 'llm') SELECT count(*) FROM calls",
        "/* calls */ PIVOT (SELECT kind FROM steps WHERE kind = 'llm') ON kind USING count(*)",
    ],
)
def test_every_way_of_asking_is_one(place: str, sql: str) -> None:
    assert query_logs([place], sql).rows == [(2,)]


def test_a_query_that_takes_too_long_is_stopped(place: str) -> None:
    endless = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1"
    with pytest.raises(UsageError, match=r"longer than 0\.2 s"):
        query_logs([place], endless, seconds=0.2)
