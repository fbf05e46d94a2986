"""A receiver of OTLP over HTTP on this machine: what an exporter sends is kept, to be imported.

It takes what the protocol has exporters send: traces in protobuf or JSON, perhaps in gzip. Of logs, messages
of model calls are kept; other logs and metrics are accepted and counted, so that an exporter of all three
does not complain. Each request is written to a spool file as it comes: if the receiver is killed,
`lctl import` takes that file.
"""

from __future__ import annotations

import os
import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from lctl.codec.lines import decode, encode_value
from lctl.errors import LctlError, RecordingError, UsageError
from lctl.importing.logrecords import name_of, records_in
from lctl.importing.spans import as_otlp
from lctl.importing.values import dicts
from lctl.spans.otlp import from_binary

#: Most bytes of one request, as it comes and unpacked.
_LARGEST = 64 << 20
_PATHS = {"/v1/traces": "spans", "/v1/logs": "logs", "/v1/metrics": "metrics"}


class Receiver:
    """Listens until it is closed.

        with Receiver("127.0.0.1:4318", spool) as receiver:
            receiver.wait(idle=5)

    Attributes:
        spans: how many came.
        requests: how many of each kind came.

    Raises:
        UsageError: the address is none.
        RecordingError: it cannot be listened on, or the spool cannot be written.
    """

    def __init__(self, address: str, spool: Path) -> None:
        host, port = _address(address)
        self.spans = 0
        self.requests = dict.fromkeys(_PATHS.values(), 0)
        self._spool = spool
        self._lock = threading.Lock()
        self._arrived = threading.Event()
        outer = self

        class Handler(_Handler):
            receiver = outer

        try:
            self._server = _Server((host, port), Handler)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise RecordingError(f"{address}: cannot be listened on ({reason})") from None
        try:
            self._file = _for_its_owner(spool)
        except OSError as error:
            self._server.server_close()
            raise RecordingError(
                f"{spool}: cannot be written ({(error.strerror or str(error)).lower()})"
            ) from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def wait(self, idle: float | None = None) -> None:
        """Until nothing has come for `idle` seconds after the first request; None: until interrupted."""
        self._arrived.wait()
        while True:
            self._arrived.clear()
            if not self._arrived.wait(idle):
                return

    def take(self, kind: str, request: dict[str, Any]) -> None:
        """Keep a request."""
        with self._lock:
            self.requests[kind] += 1
            if kind == "spans":
                self.spans += sum(
                    len(dicts(scope.get("spans")))
                    for one in dicts(request.get("resourceSpans"))
                    for scope in dicts(one.get("scopeSpans"))
                )
            if kind == "spans" or any(name_of(one).startswith("gen_ai.") for one in records_in(request)):
                self._file.write(encode_value(request) + b"\n")
                self._file.flush()
        self._arrived.set()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._file.close()

    def __enter__(self) -> Receiver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _for_its_owner(path: Path) -> BinaryIO:
    """What exporters send has what they know, secrets too, until the log is made of it."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An exporter that has gone is no failure here."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def do_POST(self) -> None:
        kind = _PATHS.get(self.path.partition("?")[0].rstrip("/"))
        if kind is None:
            self._answer(404, b"")
            return
        binary = "json" not in self.headers.get("Content-Type", "")
        try:
            body = self._body()
            request = self._request(kind, body, binary)
            if not isinstance(request, dict):
                raise ValueError("no export request")
        except (ValueError, zlib.error, LctlError) as error:
            self._answer(400, str(error).encode(), "text/plain")
            return
        try:
            self.receiver.take(kind, as_otlp(request))
        except OSError as error:  # a full disk: it is to be sent again
            self._answer(503, f"cannot be kept ({error.strerror or error})".encode(), "text/plain")
            return
        self._answer(200, *((b"", "application/x-protobuf") if binary else (b"{}", "application/json")))

    def _request(self, kind: str, body: bytes, binary: bool) -> Any:
        """What was sent; {} of what is not to be kept, and of logs that cannot be read."""
        if kind == "spans":
            return from_binary(body) if binary else decode(body)
        try:
            found = {} if kind != "logs" else from_binary(body, "logs") if binary else decode(body)
        except (ValueError, LctlError):
            found = {}
        return found if isinstance(found, dict) else {}

    def do_GET(self) -> None:
        self._answer(405, b"")

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():  # as exporters of Node.js send
            self.close_connection = True
            data = self._chunks()
            self.close_connection = False
        elif not length.isdigit() or int(length) > _LARGEST:
            self.close_connection = True
            raise ValueError("a request says its length, which is below 64 MiB")
        else:
            data = self.rfile.read(int(length))
        if self.headers.get("Content-Encoding", "identity") in ("gzip", "deflate"):
            unpacking = zlib.decompressobj(47)  # either of both
            data = unpacking.decompress(data, _LARGEST)
            if unpacking.unconsumed_tail:
                raise ValueError("unpacked, a request is below 64 MiB")
        return data

    def _chunks(self) -> bytes:
        """A body that comes in pieces, each behind its length."""
        data = bytearray()
        while True:
            said = self.rfile.readline(1024).partition(b";")[0].strip()
            size = int(said, 16)
            if size < 0 or len(data) + size > _LARGEST:
                raise ValueError("a request is below 64 MiB")
            if not size:
                break
            data += self.rfile.read(size)
            if self.rfile.readline(3).strip():
                raise ValueError("a chunk is not as long as it says")
        while self.rfile.readline(65537).strip():  # what stands behind it
            pass
        return bytes(data)

    def _answer(self, status: int, body: bytes, type: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return None


def _address(given: str) -> tuple[str, int]:
    """Host and port of `4318`, `:4318`, `localhost`, `localhost:4318`."""
    bare = given.removeprefix("http://").rstrip("/")
    host, _, port = bare.rpartition(":") if ":" in bare or bare.isdigit() else (bare, "", "4318")
    if not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--otlp-listen {given}: is HOST:PORT, as 127.0.0.1:4318")
    return host.strip("[]") or "127.0.0.1", int(port)
