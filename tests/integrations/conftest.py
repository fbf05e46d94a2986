"""A loopback server that answers as it is told, and sessions whose events can be read back."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lctl.guard import guard
from lctl.instrument import ensure_installed, uninstrument
from lctl.session import LCTLSession


@dataclass
class Reply:
    """What the server answers to one request."""

    body: Any = None
    status: int = 200
    headers: dict[str, Any] = field(default_factory=dict)
    chunks: Iterable[bytes] | None = None  # sent one by one, chunked
    pause: float = 0.0  # before each chunk, and before the head
    cut: bool = False  # drop the connection instead of ending the body
    hang: threading.Event | None = None  # wait for it before answering at all


class Server:
    """Answers from `replies`, then with `otherwise(path, request)`."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.otherwise: Callable[[str, Any], Reply] = answer_any
        self.arrived = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                outer._handle(self)

            do_GET = do_HEAD = do_PUT = do_POST

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Loopback(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # clients that leave early are what is tested

        self._httpd = Loopback(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._httpd.server_address[1]}"
        self._thread = threading.Thread(target=self._httpd.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._httpd.shutdown()
        self._httpd.server_close()
        self._thread.join()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        if "chunked" in handler.headers.get("transfer-encoding", ""):
            body = b""
            while size := int(handler.rfile.readline(), 16):
                body += handler.rfile.read(size)
                handler.rfile.readline()
            handler.rfile.readline()
        else:
            body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        with self._lock:
            self.requests.append((handler.path, {k.lower(): v for k, v in handler.headers.items()}, body))
            reply = self.replies.pop(0) if self.replies else None
        self.arrived.set()
        if reply is None:
            try:
                request = json.loads(body)
            except ValueError:
                request = None
            reply = self.otherwise(handler.path, request)
        self._send(handler, reply)

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if reply.hang is not None:
            reply.hang.wait(10)
            handler.close_connection = True
            return
        time.sleep(reply.pause)
        handler.send_response(reply.status)
        headers = {"x-request-id": "req_1", **reply.headers}
        if reply.chunks is not None:
            headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **headers}
            body = b""
        else:
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            headers = {"content-type": "application/json", "content-length": str(len(body)), **headers}
        if reply.status in (204, 304) or handler.command == "HEAD":
            body, reply = b"", replace(reply, chunks=None)
        for name, value in headers.items():
            for one in value if isinstance(value, list) else [value]:
                handler.send_header(name, one)
        handler.end_headers()
        handler.wfile.write(body if not reply.cut else body[: len(body) // 2])
        for chunk in reply.chunks or ():
            time.sleep(reply.pause)
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            handler.wfile.flush()
        if reply.cut:
            handler.wfile.flush()
            handler.close_connection = True
        elif reply.chunks is not None:
            handler.wfile.write(b"0\r\n\r\n")


# -- answers in the providers' wire formats ----------------------------------------------------


def chat(text: str = "Hello", *, n: int = 1, **more: Any) -> dict[str, Any]:
    """A chat completion; `more` goes into the message."""
    message = {"role": "assistant", "content": text, **more}
    finish = "tool_calls" if "tool_calls" in more else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-2024",
        "choices": [
            {
                "index": i,
                "message": message | ({"content": f"{text} {i}"} if n > 1 else {}),
                "finish_reason": finish,
            }
            for i in range(n)
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def chat_chunks(text: str = "one two three", *, done: bool = True) -> list[bytes]:
    """The same as a stream, a word a chunk."""
    head = {"id": "chatcmpl-2", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-2024"}

    def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return b"data: " + json.dumps({**head, "choices": choices, **more}).encode() + b"\n\n"

    words = text.split(" ")
    chunks = [event({"role": "assistant", "content": ""})]
    chunks += [event({"content": word if n == 0 else " " + word}) for n, word in enumerate(words)]
    if done:
        chunks += [event({}, "stop"), b"data: [DONE]\n\n"]
    return chunks


def claude(text: str = "Hello", **more: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 2},
        **more,
    }


def claude_chunks(text: str = "one two three", *, done: bool = True) -> list[bytes]:
    def event(kind: str, **data: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()

    start = {**claude(""), "content": [], "stop_reason": None}
    chunks = [
        event("message_start", message=start),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    ]
    chunks += [
        event(
            "content_block_delta",
            index=0,
            delta={"type": "text_delta", "text": word if n == 0 else " " + word},
        )
        for n, word in enumerate(text.split(" "))
    ]
    if done:
        chunks += [
            event("content_block_stop", index=0),
            event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 9}),
            event("message_stop"),
        ]
    return chunks


def answer_any(path: str, request: Any) -> Reply:
    """A good answer of the kind asked for, echoing the last message."""
    if not isinstance(request, dict):
        return Reply({"ok": True})
    last = (request.get("messages") or [{}])[-1].get("content")
    text = f"echo: {last}"
    path = path.partition("?")[0]
    if path.endswith("/messages"):
        return Reply(chunks=claude_chunks(text)) if request.get("stream") else Reply(claude(text))
    if path.endswith("/chat/completions"):
        if request.get("stream"):
            return Reply(chunks=chat_chunks(text))
        return Reply(chat(text, n=request.get("n") or 1))
    return Reply({"ok": True})


# -- the log ---------------------------------------------------------------------------------


class Log:
    """A session under test, and what it has written so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session = LCTLSession("test", path)

    @property
    def events(self) -> list[dict[str, Any]]:
        lines = self.path.read_text().split("\n")[1:]
        return [json.loads(line.rstrip(",")) for line in lines if line.startswith('{"seq"')]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Data of the events of one type."""
        return [event["data"] for event in self.events if event["type"] == kind]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def steps(self) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
        """(step_start, step_end or None) of each model call, in order of start."""
        events = self.events
        ends = {event["step"]: event["data"] for event in events if event["type"] == "step_end"}
        return [
            (event["data"], ends.get(event["seq"]))
            for event in events
            if event["type"] == "step_start" and event["data"].get("kind") in ("llm", "embedding")
        ]


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    """A failure of ours raises, so that no test passes over one."""
    before, guard.policy = guard.policy, "raise"
    yield
    guard.policy = before


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def server(shared_server: Server) -> Server:
    shared_server.replies.clear()
    shared_server.requests.clear()
    shared_server.arrived.clear()
    shared_server.otherwise = answer_any
    return shared_server


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    """A session in force, instrumented; uninstrumented afterwards."""
    ensure_installed()
    log = Log(tmp_path / "test.lctl.json")
    with log.session:
        yield log
    uninstrument()


@pytest.fixture
def rerun(tmp_path: Path) -> Any:
    from tests.integrations.rerunning import Rerun

    return Rerun(tmp_path)


@pytest.fixture(scope="session")
def make() -> Any:
    """The builders above, for tests that script the server."""
    from types import SimpleNamespace

    return SimpleNamespace(
        Reply=Reply,
        chat=chat,
        chat_chunks=chat_chunks,
        claude=claude,
        claude_chunks=claude_chunks,
        gzip=lambda body: gzip.compress(json.dumps(body).encode()),
    )
