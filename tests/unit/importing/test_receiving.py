"""The receiver of OTLP over HTTP: what exporters send, and what anybody else may."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Iterator
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


def post(receiver: Receiver, body: bytes, path: str = "/v1/traces", **headers: str) -> tuple[int, bytes]:
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
