"""A loopback server of WebSockets that says what it is told to, in a thread of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

Serve = Callable[["Line"], None]


class Line:
    """One connection, as the server has it: JSON both ways."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket

    def say(self, *events: dict[str, Any]) -> None:
        for event in events:
            self._socket.send(json.dumps(event))

    def hear(self, key: str, value: Any = None) -> dict[str, Any]:
        """The next event that has `key` (with that value)."""
        while True:
            event: dict[str, Any] = json.loads(self._socket.recv())
            if key in event and value in (None, event[key]):
                return event


@contextmanager
def serving(serve: Serve) -> Iterator[str]:
    """`http://127.0.0.1:PORT` of a server each of whose connections `serve` answers."""
    server = pytest.importorskip("websockets.sync.server")

    def answer(socket: Any) -> None:
        serve(Line(socket))

    with server.serve(answer, "127.0.0.1", 0) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.socket.getsockname()[1]}"
        finally:
            running.shutdown()
            thread.join()
