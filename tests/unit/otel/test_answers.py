"""What a receiver answered that is no success: said, whichever way it said so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="needs lctl[otel]")

from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

import lctl.otel
from lctl.errors import RecordingError
from lctl.otel import quiet
from tests.unit.otel.logs import record


class Told(NamedTuple):
    """What the receiver answers, and what is said of it."""

    code: int
    kind: str
    body: bytes
    said: str
    location: str = ""


def _partial(count: int, why: str) -> bytes:
    told = ExportTraceServiceResponse()
    told.partial_success.rejected_spans, told.partial_success.error_message = count, why
    data: bytes = told.SerializeToString()
    return data


PROTOBUF, JSON = "application/x-protobuf", "application/json; charset=utf-8"
TROUBLES = {
    "a key it does not know": Told(
        401, JSON, b'{"message":"no such key"}', "HTTP 401 Unauthorized: no such key"
    ),
    "in protobuf": Told(
        400, PROTOBUF, Status(message="no project").SerializeToString(), "HTTP 400 Bad Request: no project"
    ),
    "an error inside": Told(413, JSON, b'{"error":{"message":"too large"}}', ": too large"),
    "in text": Told(
        404, "text/plain", b"no\x1b[31m such\n page", "HTTP 404 Not Found: no\ufffd[31m such page"
    ),
    "a page": Told(403, "text/html", b"<html>no</html>", "HTTP 403 Forbidden"),
    "a redirect": Told(308, "", b"", "redirects to https://other/v1/traces", "https://other/v1/traces"),
    "a page of a login": Told(200, "text/html", b"<html>sign in</html>", "with a page (text/html)"),
    "some refused": Told(200, PROTOBUF, _partial(3, "too old"), "refused 3 of what was sent: too old"),
    "some refused, in JSON": Told(
        200,
        JSON,
        json.dumps({"partialSuccess": {"rejectedSpans": "3"}}).encode(),
        "refused 3 of what was sent",
    ),
}
FINE = {
    "nothing": Told(200, "", b"", ""),
    "none refused": Told(200, PROTOBUF, _partial(0, "deprecated"), ""),
    "no protobuf": Told(200, "text/plain", b"ok", ""),
}


class Receiver(ThreadingHTTPServer):
    """Answers as `told` says."""

    told = FINE["nothing"]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        assert isinstance(self.server, Receiver)
        told = self.server.told
        self.send_response(told.code)
        for name, value in (("content-type", told.kind), ("location", told.location)):
            if value:
                self.send_header(name, value)
        self.send_header("content-length", str(len(told.body)))
        self.end_headers()
        self.wfile.write(told.body)

    def log_message(self, format: str, *args: Any) -> None:
        return None


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    server = Receiver(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", TROUBLES)
def test_what_did_not_arrive_is_an_error_that_says_why(name: str, receiver: Receiver, tmp_path: Path) -> None:
    """`lctl.otel.send`: the status and the words of the answer."""
    receiver.told = TROUBLES[name]
    log = record(tmp_path / "run.lctl.json")
    with pytest.raises(RecordingError) as raised:
        lctl.otel.send(log, receiver.url)
    assert str(raised.value).startswith(f"{receiver.url}: the spans did not all arrive: ")
    assert receiver.told.said in str(raised.value)


@pytest.mark.parametrize("name", FINE)
def test_what_arrived(name: str, receiver: Receiver, tmp_path: Path) -> None:
    """An answer that says so, or says nothing."""
    receiver.told = FINE[name]
    assert lctl.otel.send(record(tmp_path / "run.lctl.json"), receiver.url) == 7


@pytest.mark.parametrize("name", ["a redirect", "a page of a login", "some refused"])
def test_what_does_not_arrive_while_a_program_runs_is_said_once(
    name: str, receiver: Receiver, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the SDK takes for success, too."""
    monkeypatch.setattr(quiet, "_told", False)
    receiver.told = TROUBLES[name]
    live = lctl.otel.export_live(receiver.url, interval=3600)
    try:
        record(tmp_path / "run.lctl.json")
    finally:
        live.stop()
    said = capsys.readouterr().err
    assert said.startswith("lctl: OpenTelemetry: ") and said.count("\n") == 1
    assert receiver.told.said in said
