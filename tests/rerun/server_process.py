"""The world the programs run against, in a process of its own: a model server with random answers, and a
plain HTTP server. Prints its addresses as JSON, then counts requests until standard input ends.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lctl.testing import ModelServer

seen: list[str] = []


class Plain(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        seen.append(self.path)
        if self.path == "/heads":
            self._send(429, b"{}", "application/json", "Slow down", {"X-Mixed-CASE": "1", "ETag": '"2"'})
        elif self.path == "/bytes":
            self._send(200, os.urandom(5000), "application/octet-stream")
        elif self.path == "/random":
            self._send(200, json.dumps({"n": random.random()}).encode(), "application/json")
        else:
            self._send(404, b"no such thing %d" % random.getrandbits(30), "text/plain")

    def do_POST(self) -> None:
        seen.append(self.path)
        body = self.rfile.read(int(self.headers["content-length"]))
        self._send(200, body[:-1] + b', "r": %f}' % random.random(), "application/json")

    def _send(
        self,
        status: int,
        body: bytes,
        kind: str,
        reason: str | None = None,
        also: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status, reason)
        for name, value in (also or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("x-random", str(random.random()))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    plain = ThreadingHTTPServer(("127.0.0.1", 0), Plain)
    threading.Thread(target=plain.serve_forever, daemon=True).start()
    with ModelServer(random_answers=True, latency=(0.0, 0.06), chunk_delay=0.002) as models:
        url = f"http://127.0.0.1:{plain.server_port}"
        print(json.dumps({"environ": {**models.environ, "PLAIN_URL": url}}), flush=True)
        for _ in sys.stdin:
            print(models.count + len(seen), flush=True)


main()
