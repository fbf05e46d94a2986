"""The receiver of OTLP over HTTP: what exporters send, and what anybody else may."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lctl.errors import RecordingError, UsageError
from lctl.importing import load
from lctl.importing.receiving import Receiver
from lctl.spans import Span
from lctl.spans.otlp import document

CALL = Span("1" * 32, "2" * 16, "", "chat m", 1, 2, {"gen_ai.operation.name": "chat"})


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    with Receiver("127.0.0.1:0", tmp_path / "spool.jsonl") as receiver:
        yield receiver


def post(
    receiver: Receiver, body: bytes | Iterable[bytes], path: str = "/v1/traces", **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(receiver.url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_json_plain_and_in_gzip(receiver: Receiver, tmp_path: Path) -> None:
    """Two requests, one file that imports."""
    body = json.dumps(document([CALL])).encode()
    assert post(receiver, body) == (200, b"{}")
    headers = {"Content-Encoding": "gzip"}
    assert post(receiver, gzip.compress(body), "/v1/traces/?x=1", **headers) == (200, b"{}")
    assert (receiver.spans, receiver.requests["spans"]) == (2, 2)
    found = load(str(tmp_path / "spool.jsonl"))
    assert found.form == "otlp" and "span there twice, taken once" in {loss.what for loss in found.lost}


def test_a_body_in_chunks(receiver: Receiver, tmp_path: Path) -> None:
    """As exporters of Node.js send, in gzip too: without its length."""
    body = json.dumps(document([CALL])).encode()
    packed = gzip.compress(body)
    assert post(receiver, iter([body[:9], body[9:]])) == (200, b"{}")
    pieces = iter([packed[:20], packed[20:]])
    assert post(receiver, pieces, **{"Content-Encoding": "gzip"}) == (200, b"{}")
    assert receiver.spans == 2
    assert len((tmp_path / "spool.jsonl").read_bytes().splitlines()) == 2


@pytest.mark.parametrize("chunks", [b"x\r\n", b"-1\r\n", b"2\r\n{}{}\r\n0\r\n\r\n", b"fffffff\r\n"])
def test_chunks_that_are_none(receiver: Receiver, chunks: bytes) -> None:
    """Refused, and the connection is closed: where the next request begins is not known."""
    host, _, port = receiver.url.removeprefix("http://").partition(":")
    head = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(head + chunks)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_values_of_the_wrong_kind_are_no_spans(receiver: Receiver, capfd: pytest.CaptureFixture[str]) -> None:
    """An answer all the same, and nothing on stderr."""
    odd: tuple[Any, ...] = (5, "x", [1, None], [{"scopeSpans": 5}], [{"scopeSpans": [{"spans": 5}]}])
    for value in odd:
        assert post(receiver, json.dumps({"resourceSpans": value}).encode())[0] == 200, value
    records = {"resourceLogs": [{"scopeLogs": [{"logRecords": [5, {"attributes": 7}]}]}]}
    assert post(receiver, json.dumps(records).encode(), "/v1/logs")[0] == 200
    assert receiver.spans == 0 and capfd.readouterr().err == ""


def test_json_by_protobufs_names(receiver: Receiver, tmp_path: Path) -> None:
    """Its spans are counted, and kept by OTLP's names."""
    span = {"trace_id": "1" * 32, "span_id": "2" * 16, "name": "x", "attributes": []}
    body = {"resource_spans": [{"scope_spans": [{"spans": [span]}]}]}
    assert post(receiver, json.dumps(body).encode())[0] == 200 and receiver.spans == 1
    assert b'"traceId"' in (tmp_path / "spool.jsonl").read_bytes()


def test_logs_and_metrics_are_taken_and_counted(receiver: Receiver) -> None:
    """An exporter of all three is content."""
    assert post(receiver, b"\x00anything", "/v1/logs", **{"Content-Type": "application/x-protobuf"})[0] == 200
    assert post(receiver, b"{}", "/v1/metrics")[0] == 200
    assert receiver.requests == {"spans": 0, "logs": 1, "metrics": 1}


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", {}),
        (b"[1]", {}),
        (b'{"a"', {}),
        (b"not gzip", {"Content-Encoding": "gzip"}),
        (gzip.compress(b" " * (65 << 20)), {"Content-Encoding": "gzip"}),
    ],
)
def test_what_is_no_request_is_refused(receiver: Receiver, body: bytes, headers: dict[str, Any]) -> None:
    """With a reason; the next one is taken."""
    status, reason = post(receiver, body, **headers)
    assert status == 400 and reason
    assert post(receiver, b"{}", "/elsewhere")[0] == 404
    assert post(receiver, json.dumps(document([CALL])).encode())[0] == 200 and receiver.spans == 1


def test_addresses(tmp_path: Path, receiver: Receiver) -> None:
    """Loopback where only a port is given; one in use, or none, is an error of ours."""
    with pytest.raises(RecordingError, match="cannot be listened on"):
        Receiver(receiver.url, tmp_path / "other")
    with pytest.raises(UsageError, match="is HOST:PORT"):
        Receiver("localhost:x", tmp_path / "other")
    with Receiver("0", tmp_path / "other") as other:
        assert other.url.startswith("http://127.0.0.1:")
