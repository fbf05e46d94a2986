"""Served connections of websockets: the library's own objects, with nothing beneath them."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from typing import Any

from lctl.instrument.serving import pairs
from lctl.instrument.serving.errors import revive
from lctl.instrument.sockets.recorded import RecordedSocket
from lctl.session.border import Answer

_SWITCHING = 101


def raise_refused(answer: Answer) -> None:
    """Raise what the library raised where the connection was not opened; return where it was."""
    if answer.status is None:
        assert answer.error is not None
        raise revive(answer.error)
    if answer.status != _SWITCHING:
        raise sys.modules["websockets.exceptions"].InvalidStatus(_response(answer))


def _response(answer: Answer) -> Any:
    status = answer.status or 0
    body = b"" if status == _SWITCHING else b"".join(answer.whole())
    headers = sys.modules["websockets.datastructures"].Headers(pairs(answer))
    made = sys.modules["websockets.http11"].Response(status, _reason(answer), headers)
    made.body = body
    return made


def _reason(answer: Answer) -> str:
    from lctl.instrument.serving import reason_of

    return reason_of(answer)


# -- connections -----------------------------------------------------------------------------


def connection_async(connecter: Any, uri: Any) -> Any:
    """What `connecter` makes of an open socket."""
    made = getattr(connecter, "factory", None) or connecter.protocol_factory
    connection = made(uri)
    connection.connection_made(_NoTransport())

    async def nothing(*args: Any, **kwargs: Any) -> None: ...

    async def ping(data: Any = None) -> Any:
        answered = asyncio.get_running_loop().create_future()
        answered.set_result(0.0)
        return answered

    connection.keepalive = connection.pong = nothing
    connection.ping = ping
    return connection


def class_of(made: Any, usual: type[Any]) -> type[Any]:
    """A class of connections in threads, with nothing beneath them. `made`: that of the program's choice."""
    base = made if isinstance(made, type) else usual

    def nothing(self: Any, *args: Any, **kwargs: Any) -> None: ...

    def ping(self: Any, *args: Any, **kwargs: Any) -> Any:
        answered = threading.Event()
        answered.set()
        return answered

    inside = {"recv_events": nothing, "keepalive": nothing, "pong": nothing, "ping": ping}
    return type(base.__name__, (base,), {**inside, "__module__": base.__module__})


class _NoTransport(asyncio.Transport):
    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...
    def write(self, data: Any) -> None: ...
    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...
    def abort(self) -> None: ...


class NoSocket:
    """In the place of a socket, and of what wraps one in TLS."""

    family = 0

    def wrap_socket(self, sock: Any, *args: Any, **kwargs: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


# -- their states ----------------------------------------------------------------------------


def open_up(connection: Any, answer: Answer, headers: Any) -> None:
    """The handshake is done. `headers`: that the program adds to its request."""
    protocol = connection.protocol
    connection.request = protocol.connect()
    if headers is not None:
        connection.request.headers.update(headers)
    connection.response = _response(answer)
    protocol.subprotocol = connection.response.headers.get("Sec-WebSocket-Protocol")
    protocol.state = sys.modules["websockets.protocol"].State.OPEN


def shut(connection: Any, served: RecordedSocket) -> None:
    """It has ended as it did in the recording."""
    protocol, state = connection.protocol, sys.modules["websockets.protocol"].State.CLOSED
    if served.closed is None or protocol.state is state:
        return
    close = sys.modules["websockets.frames"].Close
    received, sent, received_first = served.closed
    protocol.close_rcvd = None if received is None else close(*received)
    protocol.close_sent = None if sent is None else close(*sent)
    protocol.close_rcvd_then_sent = received_first
    protocol.state = state
    waiting = getattr(connection, "connection_lost_waiter", None)
    if waiting is not None and not waiting.done():
        waiting.set_result(None)


def ended(connection: Any, served: RecordedSocket) -> BaseException:
    """What the library raises of a connection that has ended."""
    shut(connection, served)
    error: BaseException = connection.protocol.close_exc
    return error


def end_of(connection: Any) -> Sequence[Any]:
    """How a connection has ended, as `shut` takes it."""
    protocol = connection.protocol
    told = [
        None if close is None else [int(close.code), close.reason]
        for close in (protocol.close_rcvd, protocol.close_sent)
    ]
    return [*told, protocol.close_rcvd_then_sent]
