"""`lctl export` and `lctl import` for OpenTelemetry, as a user types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lctl.codec import open_log
from tests.unit.cli.conftest import Cli
from tests.unit.otel.logs import record


def test_otlp_out_and_in_by_pipes_and_files(place: Path, lctl: Cli) -> None:
    """JSON to a pipe, protobuf to a file; both come back; --no-content leaves out what was said."""
    record(place / "run.lctl.json")
    out = lctl("export", "run.lctl.json", "--format", "otlp")
    assert out.code == 0 and json.loads(out.out)["resourceSpans"]
    back = lctl("import", "-", "-o", "back.lctl.json", stdin=out.out.encode())
    assert "2 model calls, 2 tool calls" in back.out
    bare = lctl("export", "run.lctl.json", "--format", "otlp", "--no-content")
    assert "2+2" in out.out and "2+2" not in bare.out
    cut = lctl("export", "run.lctl.json", "--format", "otlp", "--to-seq", 5)
    assert 0 < cut.out.count('"spanId"') < out.out.count('"spanId"')
    pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2", reason="needs lctl[otel]")
    made = lctl("export", "run.lctl.json", "--format", "otlp-proto", "-o", "run.pb")
    assert (made.code, made.out) == (0, "")
    again = lctl("import", "run.pb", "--json")
    assert json.loads(again.out)["tool_calls"] == 2


def test_a_query_over_many_logs(place: Path, lctl: Cli) -> None:
    """Logs, a pattern, a folder and Parquet give the same rows; what is for one log is refused."""
    pytest.importorskip("duckdb", reason="needs lctl[duckdb]")
    record(place / "one.lctl.json")
    id = open_log(place / "one.lctl.json").id
    text = (place / "one.lctl.json").read_text()
    (place / "two.lctl.json").write_text(text.replace(f'"id":"{id}"', '"id":"other"', 1))
    assert lctl("export", "one.lctl.json", "--format", "parquet", "-o", "one.parquet").code == 0
    for _ in range(2):  # into a folder that is there, too
        assert lctl("export", "two.lctl.json", "--format", "parquet", "-o", "lake").code == 0
    assert "lake: is a folder; give a file" in lctl("export", "one.lctl.json", "-o", "lake").err
    sql = "SELECT count(*) AS calls FROM steps WHERE kind = 'llm'"
    for targets, calls in (
        (["one.lctl.json", "two.lctl.json"], 4),
        (["*.lctl.json"], 4),
        (["one.parquet"], 2),
        (["one.parquet", "lake"], 4),
    ):
        assert lctl("query", *targets, sql).out == f"calls\n{calls:5}\n", targets
    assert "for one log" in lctl("query", "--at", "3", "*.lctl.json", sql).err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal")
def test_what_is_sent_is_taken(place: Path, lctl: Cli) -> None:
    """`--otlp` to `--otlp-listen`: the log is written at Ctrl-C; the spool is gone."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs lctl[otel]")
    log = record(place / "run.lctl.json")
    taking = subprocess.Popen(
        [sys.executable, "-m", "lctl", "import", "--otlp-listen", "127.0.0.1:0", "-o", "back.lctl.json"],
        env={**os.environ, "LCTL_DIR": str(place / "taken")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert taking.stderr is not None
    said = taking.stderr.readline().decode()
    url = said.split("taken at ")[1].split("/v1/traces")[0]
    sent = lctl("export", "run.lctl.json", "--otlp", url, "--header", "x-team=a")
    assert sent.code == 0 and "7 spans of run-1 sent to" in sent.err
    taking.send_signal(signal.SIGINT)
    out, _ = taking.communicate(timeout=30)
    assert taking.returncode == 0 and b"2 model calls, 2 tool calls" in out
    back = open_log(place / "back.lctl.json")
    assert [event.type for event in back.events()] == [event.type for event in log.events()]
    assert list((place / "taken").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ("export run.lctl.json --otlp nowhere", 2, "nowhere: no address of an OTLP receiver"),
        ("export run.lctl.json --otlp http://127.0.0.1:9 --header x", 2, "--header x: is NAME=VALUE"),
        ("export run.lctl.json --format parquet", 2, "give a file, a folder or a URL with -o"),
        ("import", 2, "give a FILE to import, or --otlp-listen"),
        ("import --otlp-listen 1:2:x", 2, "--otlp-listen 1:2:x: is HOST:PORT"),
        ("import --otlp-listen 256.0.0.1:1", 3, "256.0.0.1:1: cannot be listened on"),
    ],
)
def test_what_cannot_be_done_is_one_line(place: Path, lctl: Cli, words: str, code: int, says: str) -> None:
    """What, which value, what to do."""
    record(place / "run.lctl.json")
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs lctl[otel]")
    got = lctl(*words.split())
    assert (got.code, got.out, got.err.count("\n")) == (code, "", 1)
    assert says in got.err
