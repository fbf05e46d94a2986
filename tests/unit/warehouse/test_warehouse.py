"""Logs as Parquet and SQL over many of them."""

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

from lctl import LCTLSession
from lctl.codec import Log, open_log
from lctl.errors import LogError, LogNotFound, NotALog
from lctl.facts.querying import query
from lctl.warehouse import query_logs, write_dataset, write_file
from lctl.warehouse.parquet import arrow_schema
from lctl.warehouse.schema import COLUMNS
from tests.unit.otel.logs import chain, record


@pytest.fixture
def logs(tmp_path: Path) -> list[Log]:
    (tmp_path / "runs").mkdir()
    return [record(tmp_path / "runs" / f"{name}.lctl.json", chain_id=name) for name in ("run-1", "run-2")]


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


@pytest.fixture
def duckdb() -> Any:
    return pytest.importorskip("duckdb", reason="needs lctl[duckdb]")


def test_sql_over_a_glob_of_logs(duckdb: Any, logs: list[Log], tmp_path: Path) -> None:
    """The tables and columns that one log's query has, and `run`."""
    place = str(tmp_path / "runs" / "*.json")
    found = query_logs(
        [place],
        "SELECT run, model, count(*) AS calls, sum(input_tokens) AS read FROM steps WHERE kind = 'llm' "
        "GROUP BY ALL ORDER BY run",
    )
    assert found.columns == ["run", "model", "calls", "read"]
    assert [tuple(map(str, row)) for row in found.rows] == [
        ("run-1", "gpt-4o", "2", "40"), ("run-2", "gpt-4o", "2", "40"),
    ]  # fmt: skip
    (fact,) = query_logs([place], "SELECT * FROM facts WHERE run = 'run-1'").dicts()
    assert (fact["id"], fact["text"], fact["confidence"], fact["agent"]) == ("F1", "2+2 is 4", 0.9, "planner")
    tools = query_logs([place], "SELECT tool, error, input FROM tools WHERE run = 'run-2' ORDER BY seq").rows
    assert tools[1][:2] == ("look_up", "no such page") and json.loads(tools[0][2]) == {"a": 2, "b": 2}
    assert query_logs([place], "SELECT type, message FROM errors WHERE run = 'run-1'").rows[0][1] == (
        "nothing to check with"
    )
    (run,) = query_logs([place], "SELECT * FROM runs WHERE run = 'run-1'").dicts()
    assert (run["events"], run["model_calls"], run["tool_calls"]) == (len(logs[0]), 2, 2)
    assert (run["input_tokens"], run["errors"]) == (40, 1)
    roles = query_logs([place], "SELECT role, count(*) FROM messages GROUP BY role ORDER BY role").rows
    assert roles == [("assistant", 4), ("tool", 2), ("user", 2)]
    assert query_logs([place], "SELECT * FROM events", limit=3).more


def test_of_a_run_that_is_there_twice_the_longest_copy_counts(
    duckdb: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A copy that was made while it ran hides nothing. Another run of the same id is not taken for a copy."""
    whole = record(tmp_path / "b.lctl.json", chain_id="r")
    lines = Path(str(whole.path)).read_bytes().splitlines(keepends=True)
    (tmp_path / "a.lctl.json").write_bytes(b"".join(lines[:4]))
    assert query_logs([str(tmp_path)], "SELECT count(*) FROM events").rows == [(len(whole),)]
    assert capfd.readouterr().err == ""
    with LCTLSession("r", path=tmp_path / "c.lctl.json") as session:
        session.add_fact("F9", "another run")
    assert query_logs([str(tmp_path)], "SELECT count(*) FROM events").rows == [(len(whole),)]
    assert "c.lctl.json is left out" in capfd.readouterr().err


def test_a_run_in_logs_and_parquet_counts_once(
    duckdb: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whichever is longer; another run of the same id is left out, and said."""
    sql = "SELECT run, seq, text FROM events ORDER BY run, seq"
    place = tmp_path / "runs" / "r.lctl.json"
    with LCTLSession("r", path=place) as session:
        session.add_fact("F1", "one")
    write_file([open_log(place)], str(tmp_path / "runs" / "early.parquet"))
    with LCTLSession("r", path=place) as session:
        session.add_fact("F2", "two")
    whole = [("r", 1, "one"), ("r", 2, "two")]
    assert query_logs([str(tmp_path / "runs")], sql).rows == whole
    write_dataset([open_log(place)], str(tmp_path / "lake"))
    assert query_logs([str(tmp_path)], sql).rows == whole
    assert query_logs([str(tmp_path)], "SELECT events FROM runs").rows == [(2,)]
    early = Path(str(tmp_path / "early.lctl.json"))
    early.write_bytes(b"".join(place.read_bytes().splitlines(keepends=True)[:2]))
    place.unlink()
    assert query_logs([str(tmp_path)], sql).rows == whole
    assert capfd.readouterr().err == ""
    early.unlink()
    with LCTLSession("r", path=tmp_path / "other.lctl.json") as session:
        session.add_fact("F9", "another run")
    assert query_logs([str(tmp_path)], sql).rows == [("r", 1, "another run")]
    assert "r.parquet is left out" in capfd.readouterr().err


def test_what_was_exported_answers_the_same(duckdb: Any, logs: list[Log], tmp_path: Path) -> None:
    """Logs, a folder, a file of Parquet, a dataset, and some of each."""
    write_dataset(logs, str(tmp_path / "lake"))
    write_file(logs, str(tmp_path / "all.parquet"))
    write_file(logs[1:], str(tmp_path / "second.parquet"))
    sql = "SELECT run, agent, kind, outcome, input_tokens, tool_calls FROM steps ORDER BY run, seq"
    expected = query_logs([str(tmp_path / "runs")], sql).rows
    assert len(expected) == 8
    for paths in (
        ["lake"],
        ["all.parquet"],
        ["runs/run-1.lctl.json", "second.parquet"],
        ["runs", "runs/*.json"],
    ):
        assert query_logs([str(tmp_path / path) for path in paths], sql).rows == expected


def test_exports_of_other_versions(duckdb: Any, logs: list[Log], tmp_path: Path) -> None:
    """Columns that an older one did not write are empty, also beside others; what is no export is said."""
    write_file(logs[:1], str(tmp_path / "new.parquet"))
    write_file(logs[1:], str(tmp_path / "whole.parquet"))
    old = pq.read_table(tmp_path / "whole.parquet").drop_columns(["reasoning_tokens", "kind", "parent_seq"])
    pq.write_table(old, tmp_path / "old.parquet")
    sql = "SELECT run, sum(reasoning_tokens), count(kind), count(*) FROM events GROUP BY run ORDER BY run"
    [(_, _, kinds, count)] = query_logs([str(tmp_path / "new.parquet")], sql).rows
    assert query_logs([str(tmp_path / "old.parquet")], sql).rows == [("run-2", None, 0, count)]
    both = [str(tmp_path / "new.parquet"), str(tmp_path / "old.parquet")]
    assert query_logs(both, sql).rows == [("run-1", 1, kinds, count), ("run-2", None, 0, count)]
    assert query_logs(both[1:], "SELECT DISTINCT kind FROM steps").rows == [("agent",)]
    pq.write_table(old.select(["agent", "data"]), tmp_path / "other.parquet")
    with pytest.raises(LogError, match="no export of lctl's: there is no column 'run'"):
        query_logs([str(tmp_path / "other.parquet")], sql)


def test_steps_are_what_the_state_says(duckdb: Any, logs: list[Log], tmp_path: Path) -> None:
    """The view agrees with the reducer, step by step."""
    from lctl.chain import Chain

    found = query_logs(
        [str(tmp_path / "runs" / "run-1.lctl.json")], "SELECT * FROM steps ORDER BY seq"
    ).dicts()
    state = Chain.of(open_log(tmp_path / "runs" / "run-1.lctl.json")).state
    assert len(found) == len(state.steps)
    for row in found:
        step = state.steps[row["seq"]]
        assert (row["agent"], row["parent"], row["outcome"]) == (step.agent, step.parent, step.outcome)
        assert (row["duration_ms"], row["errors"], row["tool_calls"]) == (
            step.duration_ms, step.errors, step.tool_calls,
        )  # fmt: skip
        assert row["input_tokens"] == (step.tokens.input if step.tokens else None)


def test_tables_are_those_of_a_query_on_the_log(duckdb: Any, logs: list[Log], tmp_path: Path) -> None:
    """Columns by name and order, but for the run; and the same values of what a call used."""
    place = [str(tmp_path / "runs" / "run-1.lctl.json")]
    for table in ("steps", "tools", "messages", "errors"):
        sql = f"SELECT * FROM {table} ORDER BY seq"
        assert query_logs(place, sql).columns == ["run", *query(logs[0], sql).columns]
    used = """SELECT seq, provider, operation, finish_reason, response_id, cache_read_tokens,
              cache_write_tokens, reasoning_tokens FROM steps ORDER BY seq"""
    assert query_logs(place, used).rows == query(logs[0], used).rows


def test_values_are_those_of_a_query_on_the_log(duckdb: Any, tmp_path: Path) -> None:
    """A text has no quotes around it, parts stay parts, what a counted call did not use is none."""
    parts = [{"type": "text", "text": "in parts"}, {"type": "image_url", "image_url": {"url": "https://x"}}]
    given: list[Any] = ["r0", '"quoted"', {"a": [1, None]}, [1, 2], None, "", 'a\n"b"', 2.5]
    log = chain(
        {"type": "message", "data": {"role": "user", "content": parts}},
        {"type": "message", "data": {"role": "user", "content": "words"}},
        {"type": "message", "data": {"role": "assistant", "content": None, "status": "aborted"}},
        {"type": "step_start", "data": {"kind": "llm", "model": "m"}},
        {"type": "step_end", "step": 4, "data": {"tokens": {"input": 3}}},
        {"type": "step_start", "data": {"kind": "llm", "model": "m"}},
        {"type": "step_end", "step": 6, "data": {"outcome": "error"}},
        *({"type": "tool_call", "data": {"tool": "t", "input": {"q": one}, "output": one}} for one in given),
        {"type": "error", "data": {"category": "x", "message": "m", "context": {"a": 1}}},
        {
            "type": "message",
            "data": {"message_id": "a", "role": "assistant", "sampled": True, "parent_id": "p"},
        },
        {"type": "message", "data": {"message_id": "a", "session_id": "s", "message_number": 1}},
        {"type": "stream_start", "data": {"message_id": "b"}},
        {"type": "stream_chunk", "data": {"message_id": "b", "content": "It "}},
        {"type": "stream_chunk", "data": {"message_id": "b", "content": "is."}},
        {"type": "stream_start", "data": {}},
        {"type": "stream_end", "data": {"message_id": "b", "status": "aborted"}},
        {"type": "message", "data": {"message_id": "c", "role": "user", "status": "streaming"}},
        {"type": "stream_chunk", "data": {"message_id": "c", "content": "W"}},
        {"type": "message", "data": {"message_id": "c", "content": "Why?"}},
        {"type": "stream_start", "data": {"message_id": "d"}},
    )
    write_dataset([log], str(tmp_path))
    for asked in (
        "SELECT seq, content, status FROM messages ORDER BY seq",
        "SELECT id, step, agent, role, parent, CAST(sampled AS INTEGER) FROM messages ORDER BY seq",
        "SELECT seq, input_tokens, output_tokens FROM steps ORDER BY seq",
        "SELECT seq, input, CAST(output AS VARCHAR) AS output FROM tools ORDER BY seq",
        "SELECT context FROM errors",
    ):
        assert query_logs([str(tmp_path)], asked).rows == query(log, asked).rows, asked


def test_no_log_there(duckdb: Any, tmp_path: Path) -> None:
    with pytest.raises(LogNotFound, match="no log there"):
        query_logs([str(tmp_path / "*.json")], "SELECT 1")
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(NotALog):
        query_logs([str(tmp_path / "x.json")], "SELECT 1")
