"""Somebody who talks to the program over a WebSocket, in a rerun: what had been said is said again.

What the server says is read and thrown away, but for what must be known to answer as the client had.
"""

from __future__ import annotations

import threading
from _thread import start_new_thread
from base64 import b64decode
from collections import deque
from collections.abc import Callable
from struct import pack
from time import (  # in real time, as this is imported before a rerun puts others in their place
    monotonic,
    sleep,
)
from typing import TYPE_CHECKING, Any

from lctl.session.concurrency import ownrequests, talks
from lctl.session.concurrency.frames import CLOSE, PING, PONG, Heard, framed

if TYPE_CHECKING:
    from socket import socket

#: Real seconds for which an answer is waited for that must be on its way, and between two looks.
_PATIENCE, _MOMENT = 0.05, 0.0002
#: Real seconds for the answer to what opens it.
_OPENING = 2.0
_KINDS = {name: kind for kind, name in talks.KINDS.items()}
_OPENED = b" 101 "


class Talk:
    """One connection. What opens it has been sent.

    Args:
        is_left: that its client closes it, is on the tape; else it is when the server does.

    Attributes:
        over: the path of the lane of what opened it.
        status: the first line of the server's answer to that, once there is one.
    """

    def __init__(self, connection: socket, over: str, is_left: bool) -> None:
        self._is_left = is_left
        self.over = over
        self.status = b""
        self._connection = connection
        self._client, self._server = connection.getsockname(), connection.getpeername()
        self._pings: deque[bytes] = deque()
        self._owed = 0  # pongs that were to be sent before the pings came
        self._lock = threading.Lock()
        self._is_read = threading.Event()
        talks.again.add(over)
        start_new_thread(self._read, ())

    def is_open(self) -> bool:
        """Whether the server has opened it. That is waited for, where it must be on its way."""
        until(lambda: bool(self.status) or self._is_read.is_set(), _OPENING)
        return _OPENED in self.status

    def say(self, value: Any) -> None:
        """What `value` (of an event) says had been said, or done."""
        kind = _KINDS[str(value["kind"])]
        if kind == talks.GONE:
            self._leave(value.get("data") == talks.RESET.decode())
            return
        data = _bytes_of(value.get("data", ""))
        if kind == CLOSE and "code" in value:
            data = int(value["code"]).to_bytes(2) + data
        if kind == PONG:
            self._answer_ping(data)
        else:
            self._send(framed(kind, data))

    def await_taken(self) -> None:
        """Return when the server has read it; or soon, where its loop is held until the next comes."""
        until(lambda: ownrequests.is_taken(self._client, self._server), _PATIENCE)

    # -- inside ------------------------------------------------------------------------------------

    def _answer_ping(self, recorded: bytes) -> None:
        """What a ping holds is drawn anew in each run."""
        until(lambda: bool(self._pings) or self._is_read.is_set(), _PATIENCE)
        with self._lock:
            ping = self._pings.popleft() if self._pings else None
            self._owed += ping is None
        self._send(framed(PONG, recorded if ping is None else ping))

    def _send(self, data: bytes) -> None:
        ownrequests.expect(self._client, self._server, None)
        try:
            send_all(self._connection, data)
        except OSError:
            ownrequests.forget(self._client, self._server)  # the server has closed it

    def _leave(self, is_reset: bool) -> None:
        import socket

        ownrequests.expect(self._client, self._server, None)
        try:
            if is_reset:
                self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
                self._connection.shutdown(socket.SHUT_RD)
                self._is_read.wait(_PATIENCE)  # who is within reading keeps it open
            else:
                self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server was quicker
        self._connection.close()

    def _read(self) -> None:
        try:
            data = self._read_head()
            heard = Heard()
            while data is not None:
                for kind, payload in heard.feed(data):
                    if kind == PING:
                        self._note_ping(payload)
                data = receive(self._connection) or None
        except OSError:
            pass  # cut off, or left
        finally:
            self._is_read.set()
            talks.again.discard(self.over)
            if not self._is_left:
                self._connection.close()

    def _read_head(self) -> bytes | None:
        """What has come behind the server's answer; None where that did not come."""
        data = b""
        while b"\r\n\r\n" not in data:
            came = receive(self._connection)
            if not came:
                return None
            data += came
        head, _, rest = data.partition(b"\r\n\r\n")
        self.status = head.partition(b"\r\n")[0]
        return rest

    def _note_ping(self, data: bytes) -> None:
        with self._lock:
            is_owed = self._owed > 0
            if is_owed:
                self._owed -= 1
            else:
                self._pings.append(data)
        if is_owed:
            self._send(framed(PONG, data))


def _bytes_of(data: Any) -> bytes:
    return b64decode(data["base64"]) if isinstance(data, dict) else str(data).encode()


def until(reached: Callable[[], bool], seconds: float) -> None:
    """Return when it is, or so many real seconds have passed."""
    end = monotonic() + seconds
    while not reached() and monotonic() < end:
        sleep(_MOMENT)


def send_all(connection: socket, data: bytes) -> None:
    from _socket import socket as plain  # the program's own requests are counted

    plain.sendall(connection, data)


def receive(connection: socket) -> bytes:
    from _socket import socket as plain

    return plain.recv(connection, 1 << 16)
