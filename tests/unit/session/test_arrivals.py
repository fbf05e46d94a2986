"""Requests that come from outside to a server of the program's, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lctl.session.concurrency import arrivals, lanes

CLIENT, SERVER = ("192.0.2.1", 4711), ("127.0.0.1", 8000)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[bytes, int]]]:
    """First line, and bytes of the body, of each that was told."""
    found: list[tuple[bytes, int]] = []

    def tell(client: Any, server: Any, messages: Any, is_cut: bool, asked: int, number: int) -> None:
        found.extend((one.head.partition(b"\r\n")[0], len(one.body)) for one in messages)

    monkeypatch.setattr(arrivals, "tell", tell)
    token = lanes.enter(lanes.current())
    yield found
    lanes.leave(token)
    arrivals.forget(CLIENT, SERVER)


def _head(line: str, length: int) -> bytes:
    return f"{line} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n".encode()


def test_one_is_told_when_it_is_whole(told: list[tuple[bytes, int]]) -> None:
    for piece in (_head("POST /ask", 6)[:9], _head("POST /ask", 6)[9:], b"abc"):
        arrivals.receive(CLIENT, SERVER, piece)
    assert told == []
    arrivals.receive(CLIENT, SERVER, b"def")
    assert told == [(b"POST /ask HTTP/1.1", 6)]


def test_an_upload_of_a_great_size_is_not_kept(told: list[tuple[bytes, int]]) -> None:
    """And the next request over that connection is."""
    piece = bytes(4 << 20)
    arrivals.receive(CLIENT, SERVER, _head("PUT /film", 100 << 20))
    for _ in range(25):
        arrivals.receive(CLIENT, SERVER, piece)
    arrivals.receive(CLIENT, SERVER, _head("GET /", 0))
    assert told == [(b"GET / HTTP/1.1", 0)]
