"""`lctl query` over several runs: by every name a run has, and nothing that was named left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lctl.errors import LogNotFound, NotALog
from lctl.warehouse import query_logs
from tests.unit.cli.conftest import Cli
from tests.unit.otel.logs import record

pytest.importorskip("duckdb", reason="needs lctl[duckdb]")
RUNS = "SELECT run FROM runs ORDER BY run"


@pytest.fixture
def two(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two runs, which is where runs are looked for."""
    monkeypatch.setenv("LCTL_DIR", str(place / "runs"))
    for id in ("run-1", "run-2"):
        record(place / "runs" / f"{id}.lctl.json", chain_id=id)
    return place


@pytest.mark.parametrize(
    "targets",
    [
        ("last", "last~1"),
        ("run-1", "run-2"),
        ("run-2", "runs/run-1.lctl.json"),
        ("last+", "last~1"),
        ("sqlite:///runs.db#run-1", "runs/run-2.lctl.json"),
        ("sqlite:///runs.db#run-1", "sqlite:///runs.db#run-2"),
        ("runs", "nothing-yet/*.lctl.json"),
    ],
)
def test_runs_by_every_name_they_have(targets: tuple[str, ...], two: Path, lctl: Cli) -> None:
    """As the help of `lctl` says of a TARGET: `last`, an id, a path, an address."""
    assert lctl("push", "runs", "--store", "sqlite:///runs.db").code == 0
    asked = lctl("query", *targets, RUNS, "--json")
    assert asked.code == 0, asked.err
    assert json.loads(asked.out)["rows"] == [{"run": "run-1"}, {"run": "run-2"}]


def test_what_is_named_and_not_there_is_not_passed_over(two: Path, lctl: Cli) -> None:
    """Its rows would be missing and nobody be told; what is in a folder beside the logs is no matter."""
    (two / "runs" / "notes.lctl.json").write_text("[1]")
    for named, error in (
        ("run-3", "'run-3': no such file, and no run of that id"),
        ("x.json", "x.json: no such file"),
    ):
        asked = lctl("query", "run-1", named, RUNS)
        assert (asked.code, asked.out) == (3, "") and error in asked.err
    asked = lctl("query", "run-1", "runs/notes.lctl.json", RUNS)
    assert (asked.code, asked.out) == (3, "") and "notes.lctl.json: JSON, but not a log" in asked.err
    assert len(query_logs([str(two / "runs")], RUNS).rows) == 2
    assert len(query_logs([str(two / "runs" / "*")], RUNS).rows) == 2
    with pytest.raises(LogNotFound, match=r"x\.json: no such file"):
        query_logs([str(two / "runs"), "x.json"], RUNS)
    with pytest.raises(NotALog):
        query_logs([str(two / "runs"), str(two / "runs" / "notes.lctl.json")], RUNS)


def test_values_that_json_has_not_are_words(two: Path, lctl: Cli) -> None:
    """Times, spans of time and decimals without quotes or Python around them; lists and structs as JSON."""
    sql = (
        "SELECT TIMESTAMP '2026-01-31 12:00:00' AS at, INTERVAL 90 SECOND AS took, 1.50::DECIMAL(5,2) AS n, "
        "[1, 2] AS list, {'a': 'b'} AS struct"
    )
    assert lctl("query", "runs", sql).out.splitlines()[1].split("  ") == [
        "2026-01-31 12:00:00", "0:01:30", "1.50", "[1,2]", '{"a":"b"}',
    ]  # fmt: skip
    told = lctl("query", "runs", sql, "--csv").out.splitlines()[1]
    assert told == '2026-01-31 12:00:00,0:01:30,1.50,"[1,2]","{""a"":""b""}"'
