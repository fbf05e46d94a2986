"""record="full": bodies that are no UTF-8, and forms in parts, lose their secrets before they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lctl.instrument import ensure_installed, settings, uninstrument
from lctl.instrument.bodies import rebuild_body
from lctl.session import LCTLSession
from tests.integrations.rerunning import recording

PICTURE = b"\x89PNG\r\n\x1a\n\x00\xff\xfe" + bytes(range(128, 256)) * 4
KEY = "sk-ant-" + "api03-AbCdEf0123456789AbCdEfGh"


def _exchanges(path: Path) -> list[dict[str, Any]]:
    events = json.loads(path.read_text())["events"]
    return [event["data"] for event in events if event["type"] == "exchange"]


def _sent(exchange: dict[str, Any]) -> bytes:
    return rebuild_body({"body": exchange["request"]["body"]}, {})


@pytest.mark.parametrize("picture", [PICTURE, b"A=1\n"])
def test_forms_in_parts(server: Any, tmp_path: Path, picture: bytes) -> None:
    """Fields are looked at, by name and by form; other fields and binary parts stay byte for byte."""
    requests = pytest.importorskip("requests")
    fields = {"api_key": KEY, "password": "hunter2secret9", "title": "a picture", "note": f"with {KEY}"}
    with recording(tmp_path / "log", full=True):
        requests.post(server.url + "/upload", data=fields, files={"file": ("a.png", picture)})
    [exchange] = _exchanges(tmp_path / "log")
    body = _sent(exchange)
    assert KEY.encode() not in body and b"hunter2secret9" not in body
    assert picture in body and b"a picture" in body and b'name="password"' in body
    assert len(body.split(b"[redacted:")) == 4


@pytest.mark.parametrize("padding", [0, 40_000])
def test_answers_that_are_not_utf8(server: Any, make: Any, tmp_path: Path, padding: int) -> None:
    """In latin-1 and UTF-16, in the exchange or as a blob; without a secret they are kept exactly."""
    httpx = pytest.importorskip("httpx")
    text = '{"user": "M\xfcller", "api_key": "9f8e7d6c5b4a39281706"' + " " * padding + "}"
    bodies = [text.encode("latin-1"), text.encode("utf-16"), PICTURE + b" a text " * (padding // 4)]
    server.replies = [make.Reply(body, headers={"content-type": "text/plain"}) for body in bodies]
    with recording(tmp_path / "log", full=True):
        for body in bodies:
            assert httpx.get(server.url + "/x").content == body
    events = json.loads((tmp_path / "log").read_text())["events"]
    blobs = {event["data"]["hash"]: event["data"] for event in events if event["type"] == "blob"}
    assert bool(blobs) == bool(padding)
    kept = [rebuild_body(exchange, {}, blobs) for exchange in _exchanges(tmp_path / "log")]
    assert b"9f8e7d6c5b4a39281706" not in kept[0] and "M\xfcller".encode("latin-1") in kept[0]
    assert "9f8e7d6c5b4a39281706" not in kept[1].decode("utf-16")
    assert json.loads(kept[1].decode("utf-16"))["user"] == "M\xfcller"
    assert kept[2] == bodies[2]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/plain"])
@pytest.mark.parametrize("redact", [True, False])
def test_addresses_as_they_are(server: Any, tmp_path: Path, redact: bool, path: str) -> None:
    """`redact=False` records values as they are, in URLs, too."""
    httpx = pytest.importorskip("httpx")
    asked = server.url + path + "?key=abcdefgh12345&alt=sse"
    ensure_installed()
    settings.full = True
    try:
        with LCTLSession("c", tmp_path / "log", redact=redact):
            httpx.post(asked, json={"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    finally:
        settings.full = False
        uninstrument()
    [exchange] = _exchanges(tmp_path / "log")
    assert (exchange["url"] == asked) is not redact
    assert ("abcdefgh12345" in (tmp_path / "log").read_text()) is not redact
