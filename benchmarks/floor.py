"""L1 floor: what the least recorder of content adds to one SDK call.

Written by hand for this one call, it parses both bodies, writes each message and the step's start before
the request leaves, and the answer and the step's end after it: two writes, no more. It knows no second
client, stream, retry, secret, or message that it has seen before. What it adds no recorder can save that
keeps content in the kernel before a request goes out; a bound below it is none that can be met. The design's
bound of 4.5 % is one: this adds 4.8 to 6 %.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import httpx2
import orjson

_recording: ContextVar[bool] = ContextVar("lctl_bench_floor", default=False)
_TIME = "2026-01-01T00:00:00.000Z"


@contextmanager
def least_recorder(path: Path) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """Patches httpx2; yields a function that makes a call with recording on."""
    send = httpx2.Client.send
    log = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    seq = 0

    def write(events: list[tuple[str, Any]]) -> None:
        nonlocal seq
        lines = []
        for kind, data in events:
            seq += 1
            lines.append(
                orjson.dumps({"seq": seq, "type": kind, "timestamp": _TIME, "agent": "main", "data": data})
            )
        os.write(log, b",\n".join(lines))

    def recorded(client: httpx2.Client, request: httpx2.Request, **given: Any) -> httpx2.Response:
        if not _recording.get():
            return send(client, request, **given)
        asked = orjson.loads(request.content)
        messages = [("message", message) for message in asked["messages"]]
        write([*messages, ("step_start", {"model": asked["model"]})])
        response = send(client, request, **given)
        answer = orjson.loads(response.read())
        message = answer["choices"][0]["message"]
        write([("exchange", {"id": answer["id"]}), ("message", message), ("step_end", answer["usage"])])
        return response

    def on(call: Callable[[], Any]) -> Any:
        token = _recording.set(True)
        try:
            return call()
        finally:
            _recording.reset(token)

    httpx2.Client.send = recorded  # type: ignore[assignment,method-assign]
    try:
        yield on
    finally:
        httpx2.Client.send = send  # type: ignore[method-assign]
        os.close(log)
