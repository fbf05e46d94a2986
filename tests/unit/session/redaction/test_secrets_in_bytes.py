"""Secrets in bytes: what is text in them is written as text, and redacted."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lctl.session import LCTLSession, tool
from lctl.session.redaction.pieces import bytes_of, pieces_of

Events = Callable[[LCTLSession], list[dict[str, Any]]]
KEY = b"sk-ant-" + b"api03-abcdefghijklmnopqrstuvwx"


def _decoded(value: Any) -> bytes:
    """All that a log holds, with what is in base64 undone."""
    if isinstance(value, dict):
        return b"".join(_decoded(item) for pair in value.items() for item in pair)
    if isinstance(value, list):
        return b"".join(map(_decoded, value))
    text = str(value).encode("utf-8", "replace")
    try:
        return text + base64.b64decode(text, validate=True)
    except ValueError:
        return text


@pytest.mark.parametrize(
    "value",
    [
        KEY,
        bytearray(b"use " + KEY),
        memoryview(KEY),
        json.dumps({"k": KEY.decode()}).encode(),
        b"\x89PNG\xff\xfe" + KEY + b"\x00\xff",
        '{"user": "Müller", "key": "'.encode("latin-1") + KEY + b'"}',
        "﻿".encode("utf-16-le") + KEY.decode().encode("utf-16-le"),
    ],
)
def test_a_secret_in_bytes(session: LCTLSession, events: Events, value: Any) -> None:
    """As a tool's argument, its result, and in a structure; whatever is around it."""

    @tool
    def use(given: Any) -> Any:
        return {"made": [given]}

    use(value)
    assert KEY not in _decoded(events(session)).replace(b"\x00", b"")
    assert KEY.decode() not in session.path.read_text()


@pytest.mark.parametrize("secret", [b"hunter2-pw", b"\xff\xfehunter2", b"\xff\xfe\xfd\xfc"])
def test_the_name_above_bytes_counts(session: LCTLSession, events: Events, secret: bytes) -> None:
    """Text or not; in objects, under names that are bytes, and in lists of headers."""
    values = [{"token": secret}, {"password": [secret]}, {b"authorization": secret}]
    for value in (*values, [(b"x-api-key", secret)], [("cookie", secret)]):
        session.emit("t", {"value": value})
    for event in events(session):
        assert "[redacted:" in str(event["data"])
        assert secret not in _decoded(event["data"])


@given(st.binary() | st.text().map(str.encode) | st.lists(st.binary() | st.just(b"and a text")).map(b"".join))
def test_pieces_are_the_bytes(value: bytes) -> None:
    """In JSON and back, nothing is lost."""
    assert bytes_of(json.loads(json.dumps(pieces_of(value)))) == value
