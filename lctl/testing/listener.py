"""A loopback HTTP listener: a thread that accepts, a thread for each connection, and an end that is quick."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias

#: Makes the handler of an accepted connection; constructing it serves the connection to its end.
Serve: TypeAlias = Callable[[socket.socket, Any, "Listener"], BaseHTTPRequestHandler]


class Listener:
    """Listens on 127.0.0.1 on a port the system chooses."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._socket.getsockname()[1]
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._open: dict[socket.socket, threading.Thread] = {}
        self._acceptor = threading.Thread(target=self._accept, name="lctl-model-server", daemon=True)
        self._acceptor.start()

    def close(self) -> None:
        """Cut every connection and wait for their threads, a second at most for each."""
        if self.closing.is_set():
            return
        self.closing.set()
        # A blocked accept() does not see its socket close on every system; a connection it does see.
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            pass
        self._acceptor.join(timeout=1)
        self._socket.close()
        with self._lock:
            left = list(self._open.items())
        for connection, thread in left:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            if thread is not threading.current_thread():
                thread.join(timeout=1)

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, address = self._socket.accept()
            except OSError:
                return
            if self.closing.is_set():
                connection.close()
                return
            thread = threading.Thread(
                target=self._run, args=(connection, address), name="lctl-model-connection", daemon=True
            )
            with self._lock:
                self._open[connection] = thread
            thread.start()

    def _run(self, connection: socket.socket, address: Any) -> None:
        try:
            self._serve(connection, address, self)
        except (OSError, ValueError):
            pass  # the client went away in the middle: its right
        finally:
            with self._lock:
                self._open.pop(connection, None)
            connection.close()
