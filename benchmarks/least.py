"""L1 and D4, a second floor: what the protocol's own five events cost, written by hand for one call.

As `floor.py`, for one client and plain answers, without streams, retries, threads and failures; but with what
the protocol asks of a model call: prompts matched against what was recorded, so that only new messages are
written; SHA-256 of each request, gone on with; the exchange with its body, the message cut out of it; new
lines searched for secrets; two writes, the first before the request leaves. What it adds, no recorder in
Python that keeps these promises can save.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b, sha256
from pathlib import Path
from time import monotonic_ns
from typing import Any

import httpx2
import orjson

from lctl.clock import system_clock
from lctl.session.redaction.redact import Redactor

_URL = "http://model/v1/chat/completions"
_KEPT = {b"user-agent": "user-agent", b"content-type": "content-type"}
_recording: ContextVar[_Log | None] = ContextVar("lctl_bench_least", default=None)
_now = system_clock.now


class _Node:
    __slots__ = ("children", "id")

    def __init__(self, id: str | None) -> None:
        self.id = id
        self.children: dict[bytes, _Node] = {}


class _Log:
    """One log, and what was said in it: the last body up to its messages' end, and where that led."""

    def __init__(self, path: Path) -> None:
        self.fd = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        self._seq = 0
        self._suspects = Redactor().suspicion
        self._root = _Node(None)
        self._view: memoryview | None = None
        self._tail = b""
        self._place = self._root
        self._digest: Any = None

    def begin(self, body: bytes) -> tuple[int, str, _Node, int]:
        started = monotonic_ns()
        view, tail = self._view, self._tail
        if view is not None and body.startswith(view) and body.endswith(tail):
            at, end, place, digest = len(view), len(body) - len(tail), self._place, self._digest.copy()
            items = orjson.loads(b"[" + body[at + 1 : end] + b"]") if end > at else []
        else:
            items, place = orjson.loads(body)["messages"], self._root
            at, end = 0, body.rfind(b"]")
            self._tail = tail = body[end:]
            digest = sha256()
        seq, time, lines = self._seq, _now(), []
        for message in items:
            key = _identity(message)
            known = place.children.get(key)
            if known is None:
                seq += 1
                known = place.children[key] = _Node(f"m{seq}")
                data = {"message_id": known.id, "parent_id": place.id, **message}
                lines.append(_line(seq, "message", time, data))
            place = known
        whole = memoryview(body)
        digest.update(whole[at:end])
        self._digest, self._view, self._place = digest.copy(), whole[:end], place
        digest.update(tail)
        seq += 1
        start = {
            "kind": "llm",
            "intent": "chat.completions",
            "model": "gpt-4o",
            "provider": "openai",
            "operation": "chat.completions",
            "prompt": place.id,
        }
        lines.append(_line(seq, "step_start", time, start))
        self._write(lines, seq)
        return seq, digest.hexdigest(), place, started

    def end(self, called: tuple[int, str, _Node, int], size: int, sent: int, answer: httpx2.Response) -> None:
        step, digest, place, started = called
        body = answer.content
        said = orjson.loads(body)
        [choice] = said["choices"]
        message, usage = choice["message"], said["usage"]
        ended, time, seq = monotonic_ns(), _now(), self._seq
        node = place.children[_identity(message)] = _Node(f"m{seq + 2}")
        before, _, after = body.partition(orjson.dumps(message["content"]))
        exchange = {
            "attempt": 1,
            "method": "POST",
            "url": _URL,
            "http": "httpx2",
            "request": {"hash": f"sha256:{digest}", "size": size},
            "status": answer.status_code,
            "headers": _headers(answer),
            "body": [before.decode(), {"$content": node.id}, after.decode()],
            "complete": True,
            "duration_ms": (ended - sent) // 1000 / 1000,
        }
        sampled = {
            "message_id": node.id,
            "parent_id": place.id,
            **message,
            "sampled": True,
            "status": "complete",
        }
        end = {
            "outcome": "success",
            "message": node.id,
            "model": said["model"],
            "response_id": said["id"],
            "finish_reason": choice["finish_reason"],
            "tokens": {"input": usage["prompt_tokens"], "output": usage["completion_tokens"]},
            "duration_ms": (ended - started) // 1000 / 1000,
        }
        lines = [
            _line(seq + 1, "exchange", time, exchange, step),
            _line(seq + 2, "message", time, sampled, step),
            _line(seq + 3, "step_end", time, end, step),
        ]
        self._write(lines, seq + 3)

    def _write(self, lines: list[bytes], seq: int) -> None:
        block = b",\n".join(lines)
        if self._suspects(block, block.lower().decode("latin-1")):
            raise ValueError("the floor knows no secrets")
        os.write(self.fd, block)
        self._seq = seq


def _line(seq: int, type: str, time: str, data: dict[str, Any], step: int | None = None) -> bytes:
    if step is None:
        return orjson.dumps({"seq": seq, "type": type, "timestamp": time, "agent": "main", "data": data})
    event = {"seq": seq, "type": type, "timestamp": time, "agent": "main", "step": step, "data": data}
    return orjson.dumps(event)


def _identity(message: dict[str, Any]) -> bytes:
    return blake2b(f"{message['role']}\0{message['content']}".encode(), digest_size=16).digest()


def _headers(message: httpx2.Request | httpx2.Response) -> dict[str, str]:
    return {_KEPT[name]: value.decode() for name, value in message.headers.raw if name in _KEPT}


@contextmanager
def least_protocol() -> Iterator[Callable[[Path], Callable[[Callable[[], Any]], Any]]]:
    """Patches httpx2; yields what makes, for the path of a log, a function that records calls there."""
    send = httpx2.Client.send

    def recorded(client: httpx2.Client, request: httpx2.Request, **given: Any) -> httpx2.Response:
        log = _recording.get()
        if log is None:
            return send(client, request, **given)
        body = request.content
        _headers(request)
        called = log.begin(body)
        sent = monotonic_ns()
        response = send(client, request, **given)
        log.end(called, len(body), sent, response)
        return response

    logs: list[_Log] = []

    def recorder(path: Path) -> Callable[[Callable[[], Any]], Any]:
        log = _Log(path)
        logs.append(log)

        def on(call: Callable[[], Any]) -> Any:
            token = _recording.set(log)
            try:
                return call()
            finally:
                _recording.reset(token)

        return on

    httpx2.Client.send = recorded  # type: ignore[assignment,method-assign]
    try:
        yield recorder
    finally:
        httpx2.Client.send = send  # type: ignore[method-assign]
        for log in logs:
            os.close(log.fd)
