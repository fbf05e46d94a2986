"""SQL over many logs, as they are and as Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="needs lctl[parquet]")
pytest.importorskip("fsspec", reason="needs lctl[parquet]")

import pyarrow.parquet as pq

from lctl import LCTLSession
from lctl.codec import Log, open_log
from lctl.errors import LogError, LogNotFound, NotALog
from lctl.facts.querying import query
from lctl.warehouse import query_logs, write_dataset, write_file
from tests.unit.otel.logs import chain, record


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
