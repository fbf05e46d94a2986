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

    @property
    def path(self) -> str:
        """What was asked for."""
        return str(self._socket.request.path)

    def send(self, *messages: str | bytes) -> None:
        for message in messages:
            self._socket.send(message)

    def take(self) -> str | bytes:
        """The next message, whatever it is."""
        message: str | bytes = self._socket.recv()
        return message

    def until_closed(self) -> None:
        """Take what comes until the client closes the connection."""
        for _ in self._socket:
            pass

    def close(self, code: int = 1000, reason: str = "") -> None:
        self._socket.close(code, reason)

    def hear(self, key: str, value: Any = None) -> dict[str, Any]:
        """The next event that has `key` (with that value)."""
        while True:
            event: dict[str, Any] = json.loads(self._socket.recv())
            if key in event and value in (None, event[key]):
                return event


@contextmanager
def serving(serve: Serve) -> Iterator[str]:
    """`http://127.0.0.1:PORT` of a server each of whose connections `serve` answers; none whose address has
    `refused` in it."""
    server = pytest.importorskip("websockets.sync.server")

    def answer(socket: Any) -> None:
        serve(Line(socket))

    def refuse(connection: Any, request: Any) -> Any:
        return connection.respond(403, "Not you.") if "refused" in request.path else None

    with server.serve(answer, "127.0.0.1", 0, process_request=refuse) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.socket.getsockname()[1]}"
        finally:
            running.shutdown()
            thread.join()
