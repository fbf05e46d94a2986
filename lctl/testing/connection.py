"""One HTTP/1.1 connection of the model server: reads requests, writes answers and their faults."""

from __future__ import annotations

import socket
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.client import responses as _REASONS
from http.server import BaseHTTPRequestHandler
from typing import Any

from lctl.testing.faults import Fault
from lctl.testing.listener import Listener


@dataclass(slots=True)
class Outgoing:
    """What is sent back: `body`, or for a stream its `events`; `fault` shapes how."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    events: Iterable[bytes] | None = None
    error_event: Callable[[int], bytes] | None = None
    fault: Fault | None = None
    delay: float = 0.0
    chunk_delay: float = 0.0


class Connection(BaseHTTPRequestHandler):
    """Serves one client connection. Subclasses say what the answer is."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each small event waits 40 ms for the client's acknowledgement
    server: Any
    gzip = False

    def respond(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Outgoing:
        raise NotImplementedError

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr: the caller's output is not ours to write into."""

    def do_POST(self) -> None:
        headers = {k.lower(): v for k, v in self.headers.items()}
        self._send(self.respond(self.command, self.path, headers, self._body(headers)), headers)

    do_GET = do_DELETE = do_PUT = do_POST

    # -- reading --------------------------------------------------------------------------

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return b"".join(iter(self._chunk, b""))
        return self.rfile.read(int(headers.get("content-length") or 0))

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    # -- writing --------------------------------------------------------------------------

    def _send(self, out: Outgoing, headers: Mapping[str, str]) -> None:
        fault = out.fault or Fault()
        self._wait(out.delay + fault.delay)
        if fault.hang:
            self._wait(3600.0 if fault.hang is True else fault.hang)
            return self._cut(reset=False)
        if fault.replaces and fault.reset:
            return self._cut(reset=True)
        packer = None
        if self.gzip and "gzip" in headers.get("accept-encoding", ""):
            packer = zlib.compressobj(wbits=31)
            out.headers["content-encoding"] = "gzip"
        if out.events is None:
            self._send_whole(out, fault, packer)
        else:
            self._send_events(out, out.events, fault, packer)
        return None

    def _send_whole(self, out: Outgoing, fault: Fault, packer: Any) -> None:
        body = out.body[: len(out.body) // 2] if fault.malformed else out.body
        if packer is not None:
            body = packer.compress(body) + packer.flush()
        head = self._head(out, {"content-length": str(len(body))})
        if fault.drop_after is not None:
            self.wfile.write(head + body[: len(body) // 2])
            return self._cut(fault.reset)
        self.wfile.write(head + body)
        return None

    def _send_events(self, out: Outgoing, events: Iterable[bytes], fault: Fault, packer: Any) -> None:
        self.wfile.write(self._head(out, {"transfer-encoding": "chunked"}))
        for sent, event in enumerate(events):
            if fault.drop_after is not None and sent >= fault.drop_after:
                return self._cut(fault.reset)
            if fault.error_after is not None and sent >= fault.error_after and out.error_event:
                self._write_chunk(out.error_event(sent), packer)
                break
            if fault.malformed and sent == 1:
                event = event[: len(event) // 2] + b"\n\n"
            self._wait(out.chunk_delay + fault.chunk_delay)
            self._write_chunk(event, packer)
        if packer is not None:
            self._write_raw(packer.flush())
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _write_chunk(self, data: bytes, packer: Any) -> None:
        if packer is not None:
            data = packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)
        self._write_raw(data)

    def _write_raw(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _head(self, out: Outgoing, framing: dict[str, str]) -> bytes:
        lines = [f"HTTP/1.1 {out.status} {_REASONS.get(out.status, 'Unknown')}"]
        lines += [f"{k}: {v}" for k, v in (out.headers | framing).items()]
        lines.append(f"date: {self.date_time_string()}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")

    def _wait(self, seconds: float) -> None:
        """Sleep, but not past the server's end."""
        listener: Listener = self.server
        if seconds > 0 and listener.closing.wait(seconds):
            self.close_connection = True
            raise ConnectionAbortedError("the model server is closing")

    def _cut(self, reset: bool) -> None:
        """Close the connection here: orderly, or with a TCP reset."""
        self.close_connection = True
        if reset:
            self.connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )  # takes effect when the listener closes it
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
