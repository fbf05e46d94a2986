"""Export while the program runs: the spans of the finished log, and nothing for the host to notice."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs lctl[otel]")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs lctl[otel]")

from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import lctl.otel
from lctl.analysis.stats import stats
from lctl.codec import open_log
from lctl.errors import LctlError, RecordingError, UsageError
from lctl.guard import guard
from lctl.importing import load
from lctl.importing.receiving import Receiver
from lctl.otel import quiet
from lctl.session import LCTLSession
from lctl.spans import spans_of
from tests.unit.otel.logs import play, record


class Back:
    """A back end in memory."""

    def __init__(self, **options: Any) -> None:
        self.spans, self.metrics = InMemorySpanExporter(), InMemoryMetricReader()
        self.logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        self.live = lctl.otel.export_live(
            span_exporter=self.spans,
            log_exporter=self.logs,
            metric_reader=self.metrics,
            interval=3600,
            **options,
        )

    def points(self) -> dict[str, list[Any]]:
        data = self.metrics.get_metrics_data()
        return {
            metric.name: list(metric.data.data_points)
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
def back() -> Iterator[Back]:
    made = Back()
    yield made
    made.live.stop()


def test_live_spans_are_those_of_the_finished_log(back: Back, tmp_path: Path) -> None:
    """Ids, names, parents, times, attributes, marks, status."""
    log = record(tmp_path / "run.lctl.json")
    back.live.flush()
    expected = {span.span_id: span for span in spans_of(log)}
    found = back.spans.get_finished_spans()
    assert len(found) == len(expected)
    for span in found:
        assert span.context is not None
        ours = expected[f"{span.context.span_id:016x}"]
        assert (span.name, span.start_time, span.end_time) == (ours.name, ours.start_ns, ours.end_ns)
        assert dict(span.attributes or {}) == ours.attributes
        assert [event.name for event in span.events] == [mark.name for mark in ours.marks]
        assert (span.status.description or "") == ours.error
        assert (f"{span.parent.span_id:016x}" if span.parent else "") == ours.parent_id


def test_spans_come_while_the_session_runs(back: Back, tmp_path: Path) -> None:
    """A step that has ended is exported before the session is."""
    with LCTLSession("run-1", tmp_path / "run.lctl.json") as session:
        play(session)
        back.live.flush()
        before = {span.name for span in back.spans.get_finished_spans()}
    back.live.flush()
    assert "invoke_agent planner" in before and "invoke_workflow run-1" not in before
    assert "invoke_workflow run-1" in {span.name for span in back.spans.get_finished_spans()}


def test_metrics_are_those_of_the_conventions(back: Back, tmp_path: Path) -> None:
    """Durations, tokens as counters and as distributions, by model and provider."""
    record(tmp_path / "run.lctl.json")
    back.live.flush()
    points = back.points()
    (used,) = points["gen_ai.client.inference.usage.input_tokens"]
    assert used.value == 40
    assert used.attributes["gen_ai.token.modality"] == "unknown"
    assert used.attributes["gen_ai.provider.name"] == "openai"
    (took,) = points["gen_ai.client.inference.duration"]
    assert took.count == 2 and took.explicit_bounds[0] == 0.01
    by_type = {one.attributes["gen_ai.token.type"]: one.sum for one in points["gen_ai.client.token.usage"]}
    assert by_type == {"input": 40, "output": 11}
    (cached,) = points["gen_ai.client.inference.usage.cache_read.input_tokens"]
    assert cached.value == 4
    tools = points["gen_ai.execute_tool.duration"]
    assert {one.attributes["gen_ai.tool.name"] for one in tools} == {"add", "look_up"}
    assert {one.attributes.get("error.type") for one in tools} == {None, "tool_error"}
    assert "gen_ai.invoke_agent.duration" in points


def test_events_tell_of_each_model_call(tmp_path: Path) -> None:
    """One event of details a call, in its span, with content where that is asked for."""
    back = Back(content="event")
    try:
        record(tmp_path / "run.lctl.json")
        back.live.flush()
        told = [one.log_record for one in back.logs.get_finished_logs()]
        assert [one.event_name for one in told] == ["gen_ai.client.inference.operation.details"] * 2
        spans = {span.context.span_id: span for span in back.spans.get_finished_spans() if span.context}
        for one in told:
            assert spans[one.span_id or 0].name == "chat gpt-4o"
            assert "gen_ai.input.messages" in (one.attributes or {})
        assert all("gen_ai.input.messages" not in (span.attributes or {}) for span in spans.values())
    finally:
        back.live.stop()


def test_a_failing_back_end_is_no_concern_of_the_program(tmp_path: Path, capsys: Any) -> None:
    """What it raises is counted; the log is whole; the program's calls return as ever."""

    class Failing(InMemorySpanExporter):
        def export(self, spans: Any) -> Any:
            raise OSError("gone")

    guard.policy, before = "report", guard.policy
    live = lctl.otel.export_live(span_exporter=Failing(), interval=3600)
    try:
        log = record(tmp_path / "run.lctl.json")
        live.flush()
    finally:
        live.stop()
        guard.policy = before
    assert len(log) == len(list(open_log(tmp_path / "run.lctl.json").events())) > 10


def test_a_back_end_that_does_not_answer_is_given_up_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program's end waits no longer than it says; the log has all of it."""
    answer = threading.Event()

    class Hanging(InMemorySpanExporter):
        def export(self, spans: Any) -> Any:
            answer.wait(30)
            return super().export(spans)

    monkeypatch.setattr(quiet, "_told", False)
    monkeypatch.delenv("LCTL_QUIET", raising=False)
    live = lctl.otel.export_live(span_exporter=Hanging(), interval=3600)
    record(tmp_path / "run.lctl.json")
    try:
        live.stop(0.2)
        assert "no answer for 0.2 s: what was not sent by then is given up" in capsys.readouterr().err
    finally:
        answer.set()


def test_what_a_slow_back_end_does_not_take_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """That spans are dropped: by lctl, and not in the program's own logging."""
    quiet._told = False
    taking = threading.Event()

    class Slow(InMemorySpanExporter):
        def export(self, spans: Any) -> Any:
            taking.wait(60)
            return super().export(spans)

    live = lctl.otel.export_live(span_exporter=Slow(), interval=3600)
    try:
        with LCTLSession("run-1", tmp_path / "run.lctl.json") as session:
            for _ in range(34_000):
                session.tool_call("t", {}, "ok")
        live._look()
    finally:
        taking.set()
        live.stop()
    said = capsys.readouterr().err
    assert said.count("lctl: OpenTelemetry: Queue full") == 1 and "the log itself is complete" in said
    assert caplog.records == []


def test_a_program_exports_by_its_environment_alone(tmp_path: Path) -> None:
    """LCTL_OTEL: over HTTP to a receiver, and imported there it is the same run, children included."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, lctl\n"
        "lctl.auto_instrument()\n"
        "session = lctl.get_session()\n"
        "with session.step('parent', 'work'):\n"
        "    session.tool_call('t', {'x': 1}, 2, 3.0)\n"
        "    child = os.fork() if hasattr(os, 'fork') else 1\n"
        "    if child == 0:\n"
        "        with session.step('child', 'more'):\n"
        "            session.tool_call('u', {'x': 2}, 3, 4.0)\n"
        "        lctl.get_session().close()\n"
        "        os._exit(0)\n"
        "    elif hasattr(os, 'fork'):\n"
        "        os.waitpid(child, 0)\n"
    )
    quiet = ("-W", "ignore:This process:DeprecationWarning")  # of a fork beside the exporter's thread
    with Receiver("127.0.0.1:0", tmp_path / "spool.jsonl") as receiver:
        env = {**os.environ, "LCTL_OTEL": receiver.url, "LCTL_DIR": str(tmp_path / "runs"), "LCTL_QUIET": "1"}
        done = subprocess.run(
            [sys.executable, *quiet, str(program)],
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert done.stderr == ""
    assert receiver.requests["spans"] and receiver.requests["metrics"]
    found = load(str(tmp_path / "spool.jsonl"), "otlp")
    tools = {event.data["tool"] for event in found.log.events() if event.type == "tool_call"}
    assert tools == ({"t", "u"} if hasattr(os, "fork") else {"t"})


def test_what_the_environment_cannot_have_is_one_line(tmp_path: Path) -> None:
    """A wrong address: said, and the program runs and is recorded."""
    code = "import lctl; lctl.auto_instrument(); lctl.get_session().add_fact('F', 'x'); print('done')"
    env = {**os.environ, "LCTL_OTEL": "nowhere", "LCTL_DIR": str(tmp_path), "LCTL_QUIET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "done\n" and len(list(tmp_path.glob("*.lctl.json"))) == 1
    assert done.stderr.startswith("lctl: LCTL_OTEL=nowhere: ") and done.stderr.count("\n") == 1


def test_a_finished_log_is_sent(tmp_path: Path) -> None:
    """`lctl.otel.send`: what arrives is the log; where nobody listens, the error says so."""
    log = record(tmp_path / "run.lctl.json")
    with Receiver("127.0.0.1:0", tmp_path / "spool.jsonl") as receiver:
        assert lctl.otel.send(log, receiver.url) == 7 == receiver.spans
        url = receiver.url
    assert stats(load(str(tmp_path / "spool.jsonl")).log).tokens == stats(log).tokens
    with pytest.raises(UsageError, match="no address"):
        lctl.otel.send(log, "nowhere")
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch, pytest.raises(RecordingError, match="did not take the spans"):
        patch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
        lctl.otel.send(log, url)


def test_a_log_is_sent_by_grpc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where OTEL_EXPORTER_OTLP_PROTOCOL says so; what fails, the error says."""
    grpc = pytest.importorskip("grpc", reason="pip install opentelemetry-exporter-otlp-proto-grpc")
    pytest.importorskip("opentelemetry.exporter.otlp.proto.grpc")
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as messages
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as service

    requests: list[Any] = []

    class Traces(service.TraceServiceServicer):
        def Export(self, request: Any, context: Any) -> Any:
            requests.append((request, dict(context.invocation_metadata())))
            return messages.ExportTraceServiceResponse()

    log = record(tmp_path / "run.lctl.json")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    server = grpc.server(futures.ThreadPoolExecutor(2))
    register: Any = service.add_TraceServiceServicer_to_server
    register(Traces(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        sent = lctl.otel.send(log, f"http://127.0.0.1:{port}", headers={"x-key": "abc"})
    finally:
        server.stop(None).wait()
    [(request, told)] = requests
    spans = [span for one in request.resource_spans for scope in one.scope_spans for span in scope.spans]
    assert [span.name for span in spans] == [span.name for span in spans_of(log)] and len(spans) == sent
    assert told["x-key"] == "abc"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "carrier pigeon")
    with pytest.raises(LctlError, match=r"TRACES_PROTOCOL=carrier pigeon: no protocol of OTLP; there are"):
        lctl.otel.send(log, f"http://127.0.0.1:{port}")


def test_a_log_is_sent_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the exporter for http/json, to a receiver that takes both."""
    pytest.importorskip("opentelemetry.exporter.otlp.json.http.trace_exporter")
    log = record(tmp_path / "run.lctl.json")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
    with Receiver("127.0.0.1:0", tmp_path / "spool.jsonl") as receiver:
        assert lctl.otel.send(log, receiver.url) == len(spans_of(log))
    assert stats(load(str(tmp_path / "spool.jsonl"), "otlp").log).tokens == stats(log).tokens


def test_large_conversations_go_in_several_requests(tmp_path: Path) -> None:
    """Each call's span has its whole prompt: together they are more than a receiver takes at once."""
    with LCTLSession("run-1", tmp_path / "run.lctl.json") as session:
        for n in range(6):
            asked = [{"role": "user", "content": f"{n}" + "x" * 900_000}]
            session.llm_trace(asked, "yes", "m", {"input": 1, "output": 1}, 1.0)
    with Receiver("127.0.0.1:0", tmp_path / "spool.jsonl") as receiver:
        assert lctl.otel.send(open_log(tmp_path / "run.lctl.json"), receiver.url) == 7 == receiver.spans
    assert receiver.requests["spans"] == 3
    assert max(map(len, (tmp_path / "spool.jsonl").read_bytes().splitlines())) < 2_500_000
