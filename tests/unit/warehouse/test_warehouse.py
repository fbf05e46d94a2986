"""Logs as Parquet, in folders and object stores."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="needs lctl[parquet]")
pytest.importorskip("fsspec", reason="needs lctl[parquet]")

import fsspec
import pyarrow.parquet as pq

from lctl.codec import Log
from lctl.errors import LogError, LogNotFound
from lctl.warehouse import query_logs, write_dataset, write_file
from lctl.warehouse.parquet import arrow_schema
from lctl.warehouse.schema import COLUMNS
from tests.unit.otel.logs import chain, record


def test_a_row_is_an_event_whole(logs: list[Log], tmp_path: Path) -> None:
    """Every event, its payload as JSON and what is asked for most beside it."""
    count = write_file(logs, str(tmp_path / "all.parquet"))
    table = pq.read_table(tmp_path / "all.parquet")
    assert count == table.num_rows == sum(len(log) for log in logs)
    assert table.column_names == [column.name for column in COLUMNS]
    rows = table.to_pylist()
    events = [event for log in logs for event in log.events()]
    for row, event in zip(rows, events, strict=True):
        assert (row["seq"], row["type"], row["agent"], row["step"]) == (
            event.seq,
            event.type,
            event.agent,
            event.step,
        )
        assert json.loads(row["data"]) == event.data
        assert row["timestamp"].isoformat().replace("+00:00", "Z")[:19] == event.timestamp[:19]
    end = next(row for row in rows if row["input_tokens"] is not None)
    assert (end["input_tokens"], end["cache_read_tokens"], end["model"]) == (10, 4, "gpt-4o")
    fact = next(row for row in rows if row["fact"])
    assert (fact["fact"], fact["confidence"], fact["text"]) == ("F1", 0.9, "2+2 is 4")
    header = pq.read_metadata(tmp_path / "all.parquet").metadata
    assert json.loads(header[b"chain:run-1"])["id"] == "run-1"


def test_a_dataset_is_partitioned_by_day_and_written_again_is_the_same(
    logs: list[Log], tmp_path: Path
) -> None:
    """`date=.../<run>.parquet`; a run written twice is there once; no partial files stay."""
    root = tmp_path / "lake"
    for _ in range(2):
        write_dataset(logs, str(root))
    files = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    day = next(iter(logs[0].events())).timestamp[:10]
    assert files == [f"date={day}/run-1.parquet", f"date={day}/run-2.parquet"]
    table = pq.read_table(root)
    assert table.num_rows == sum(len(log) for log in logs)
    assert {str(one) for one in table["date"].to_pylist()} == {day}


def test_runs_whose_ids_are_alike_have_files_of_their_own(tmp_path: Path) -> None:
    """Ids are anybody's words: what no file may be called, and any length; each run is there once."""
    ids = ["mail:17", "mail-17", "mail/17", "mail-17~1f3a9c", "x" * 300, "x" * 301, "é" * 120, "..", "日/本"]
    logs = [record(tmp_path / f"{n}.lctl.json", chain_id=id) for n, id in enumerate(ids)]
    root = tmp_path / "lake"
    for _ in range(2):
        write_dataset(logs, str(root))
    table = pq.read_table(root)
    assert sorted(set(table["run"].to_pylist())) == sorted(ids)
    assert table.num_rows == sum(len(log) for log in logs)
    names = {path.name for path in root.rglob("*.parquet")}
    assert {"mail-17.parquet", "mail-17~1f3a9c.parquet"} < names and len(names) == len(ids)


def test_any_url_that_fsspec_knows(logs: list[Log]) -> None:
    """An object store is a URL; one nobody knows, or whose package is missing, is an error in one line."""
    write_dataset(logs, "memory://lake/runs")
    held = fsspec.filesystem("memory")
    assert len(held.find("/lake/runs")) == 2 and all(
        name.endswith(".parquet") for name in held.find("/lake/runs")
    )
    with pytest.raises(LogError, match="nosuch://"):
        write_dataset(logs, "nosuch://bucket/x")


def test_values_of_wrong_types_are_only_in_the_data(tmp_path: Path) -> None:
    """A log may hold anything: columns stay of their types."""
    log = chain(
        {"type": "step_start", "data": {"kind": 5, "model": {"id": "m"}, "intent": None}},
        {"type": "step_end", "data": {"tokens": {"input": "many", "output": 2**63}, "duration_ms": True}},
        {
            "type": "novel",
            "timestamp": "never",
            "data": {"text": ["x"], "error": {"a": 1}, "id": "not a fact"},
        },
        {"type": "message", "data": {"role": "user", "content": [{"type": "text", "text": "in parts"}]}},
    )
    write_file([log], str(tmp_path / "odd.parquet"))
    start, end, novel, message = pq.read_table(tmp_path / "odd.parquet").to_pylist()
    assert (start["kind"], start["model"]) == (None, "m")
    assert (end["step"], end["input_tokens"], end["output_tokens"], end["duration_ms"]) == (
        1,
        None,
        None,
        None,
    )
    assert (novel["timestamp"], novel["fact"], novel["error"]) == (None, None, '{"a":1}')
    assert message["text"] == "in parts"


def test_the_schema_says_what_it_holds() -> None:
    """Each column has a comment, and the documentation has each column."""
    page = (Path(__file__).parents[3] / "docs" / "warehouse.md").read_text(encoding="utf-8")
    for field, column in zip(arrow_schema(), COLUMNS, strict=True):
        assert field.metadata[b"comment"].decode() == column.about
        assert f"| `{column.name}` | {column.type} | {column.about} |" in page


# -- queries ---------------------------------------------------------------------------------------


def test_an_object_store_is_read_as_it_was_written(logs: list[Log]) -> None:
    """A query goes through what fsspec knows; nothing there, or nobody there, is an error in one line."""
    pytest.importorskip("duckdb", reason="needs lctl[duckdb]")
    write_dataset(logs, "memory://lake/asked")
    for place in ("memory://lake/asked", "memory://lake/asked/date=*/run-*.parquet"):
        assert query_logs([place], "SELECT run FROM runs ORDER BY run").rows == [("run-1",), ("run-2",)]
    with pytest.raises(LogNotFound, match="memory://lake/none"):
        query_logs(["memory://lake/none"], "SELECT 1")
    with pytest.raises(LogError, match="nosuch://"):
        query_logs(["nosuch://bucket/x"], "SELECT 1")


def _cut_short(log: Log) -> Iterator[Log]:
    yield log
    raise LogError("the second log is cut short")


@pytest.mark.slow
def test_s3(logs: list[Log], monkeypatch: pytest.MonkeyPatch) -> None:
    """Amazon's protocol over loopback; a bucket that is not there is not made."""
    pytest.importorskip("duckdb", reason="needs lctl[duckdb]")
    pytest.importorskip("s3fs", reason="pip install s3fs")
    server: Any = pytest.importorskip("moto.server", reason="pip install 'moto[server]'")
    for name, value in {
        "ACCESS_KEY_ID": "x",
        "SECRET_ACCESS_KEY": "y",
        "DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    running = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    try:
        host, port = running.get_host_and_port()
        for name in ("AWS_ENDPOINT_URL", "FSSPEC_S3_ENDPOINT_URL"):
            monkeypatch.setenv(name, f"http://{host}:{port}")
        monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": f"http://{host}:{port}"})
        fsspec.filesystem("s3").mkdir("team")
        for _ in range(2):
            write_dataset(logs, "s3://team/runs/")
        assert len(fsspec.filesystem("s3").find("team")) == 2
        found = query_logs(["s3://team/runs"], "SELECT run, model_calls FROM runs ORDER BY run").rows
        assert found == [("run-1", 2), ("run-2", 2)]
        with pytest.raises(LogError, match="nobody"):
            write_dataset(logs, "s3://nobody/runs/")
        assert not fsspec.filesystem("s3").exists("nobody")
        with pytest.raises(LogError, match="cut short"):
            write_file(_cut_short(logs[0]), "s3://team/cut.parquet")
        assert not fsspec.filesystem("s3").exists("team/cut.parquet")
    finally:
        running.stop()


@pytest.mark.slow
def test_gs(logs: list[Log], tmp_path: Path) -> None:
    """Google's protocol over loopback, from programs of their own; nothing but the answer is said."""
    for package in ("duckdb", "gcsfs"):
        pytest.importorskip(package, reason=f"pip install {package}")
    server: Any = pytest.importorskip(
        "gcp_storage_emulator.server", reason="pip install gcp-storage-emulator"
    )
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    running = server.create_server("127.0.0.1", port, in_memory=True, default_bucket="team")
    running.start()

    def lctl(*words: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}
        command = [sys.executable, "-m", "lctl", *words]
        return subprocess.run(
            command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )

    try:
        for log in logs:
            written = lctl("export", str(log.path), "--format", "parquet", "-o", "gs://team/runs/")
            assert written.returncode == 0, written.stderr
        asked = lctl("query", "gs://team/runs/", "SELECT run, model_calls FROM runs ORDER BY run", "--csv")
        assert asked.stdout.split() == ["run,model_calls", "run-1,2", "run-2,2"]
        assert asked.stderr == ""
        refused = lctl("export", str(logs[0].path), "--format", "parquet", "-o", "gs://nobody/runs/")
        assert (refused.returncode, refused.stdout) == (3, "")
        assert refused.stderr.startswith("lctl: gs://nobody/runs/: cannot be written")
        assert len(refused.stderr.splitlines()) == 1
    finally:
        running.stop()
