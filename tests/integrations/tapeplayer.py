"""A plain player over one recorded log: by lane and number, strict, in no order but the program's own."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

from lctl.errors import RerunStopped
from lctl.instrument.bodies import rebuild_body, rebuild_chunks
from lctl.session import border
from lctl.session.border import Answer, Live, RecordedError, WireRequest
from lctl.session.concurrency.lane import Lane

#: Connections tried while `watching` is on.
attempts: list[tuple[str, Any]] = []
watching = False


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if watching and event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        attempts.append((event, args[1:] if event == "socket.connect" else args))
        raise RuntimeError(f"{event} in a rerun")


sys.addaudithook(_audit)


class TapeAnswer:
    """One exchange of the log."""

    match: str | None = None

    def __init__(self, data: dict[str, Any], messages: dict[str, Any], blobs: dict[str, Any]) -> None:
        self.status: int | None = data.get("status")
        self.headers: Mapping[str, Any] = data.get("headers", {})
        self.encoding = data.get("encoded")
        self.reason, self.names = data.get("reason"), data.get("names", ())
        self.closed_early = bool(data.get("closed_early"))
        error = data.get("error")
        self.cancelled = error is not None and error["type"] in ("CancelledError", "GeneratorExit")
        self.error = RecordedError.of(error) if error is not None and not self.cancelled else None
        self._given = 0
        if "chunks" in data:
            self._chunks = [chunk for _, chunk in rebuild_chunks(data)]
        else:
            body = rebuild_body(data, messages, blobs)
            self._chunks = [body] if body else []

    def wait(self) -> None:
        if self.cancelled and self.status is None:
            threading.Event().wait()

    async def wait_async(self) -> None:
        if self.cancelled and self.status is None:
            await asyncio.Event().wait()

    def chunks(self) -> Iterator[bytes]:
        while self._given < len(self._chunks):
            self._given += 1
            yield self._chunks[self._given - 1]

    def rest(self) -> list[bytes]:
        rest = self._chunks[self._given :]
        self._given = len(self._chunks)
        return rest

    async def left_async(self) -> None:
        """At once."""

    def whole(self) -> list[bytes]:
        return self._chunks

    async def chunks_async(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks():
            yield chunk
        if self.cancelled:
            await asyncio.Event().wait()


class TapePlayer(border.Player):
    """Serves what the log at `path` holds.

    Attributes:
        live: (lane, number) -> the body to send in place of the request's, None for its own.
        asked: every request, in order.
    """

    def __init__(self, path: Path) -> None:
        document = json.loads(path.read_text())
        events = document["events"] if isinstance(document, dict) else document
        messages = {e["data"]["message_id"]: e["data"] for e in events if e["type"] == "message"}
        self._blobs = {e["data"]["hash"]: e["data"] for e in events if e["type"] == "blob"}
        self.live: dict[tuple[str, int], bytes | None] = {}
        self.asked: list[WireRequest] = []
        self._tape: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
        for data in _by_start([e["data"] for e in events if e["type"] == "exchange"]):
            self._tape.setdefault(data.get("lane", "0"), []).append((data, messages))

    @property
    def unused(self) -> int:
        used = sum(1 for request in self.asked if request.number)
        return sum(len(exchanges) for exchanges in self._tape.values()) - used

    def exchange(self, request: WireRequest) -> Answer | Live:
        self.asked.append(request)
        place = (request.lane.path, request.number)
        if place in self.live:
            return Live(self.live[place])
        recorded = self._tape.get(request.lane.path, [])
        if not 0 < request.number <= len(recorded):
            raise RerunStopped(f"not on the tape: {request.method} {request.url} {request.kind} {place}")
        data, messages = recorded[request.number - 1]
        digest = data["request"].get("hash")
        have = request.hash()
        if (data["method"], data["url"]) != (request.method, request.url) or digest not in (None, have):
            raise RerunStopped(f"{data['method']} {data['url']} is on the tape, asked was {request}")
        return TapeAnswer(data, messages, self._blobs)

    def tool(self, call: Any, lane: Lane, number: int) -> None:
        return None

    def ambient(self, source: str, key: str, lane: Lane, number: int) -> None:
        return None


def _by_start(exchanges: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """In order of start. One without `at` was alone: it parts those before it from those after."""
    ordered: list[dict[str, Any]] = []
    run: list[dict[str, Any]] = []
    for data in [*exchanges, None]:
        if data is not None and "at" in data:
            run.append(data)
            continue
        ordered += sorted(run, key=lambda one: float(one["at"]))
        run = []
        if data is not None:
            ordered.append(data)
    return ordered


#: Times, and turns of event loops, which only the whole rerun has (`lctl.rerun.order.conductor`).
_VOLATILE = frozenset(
    {
        "timestamp",
        "duration_ms",
        "first_chunk_ms",
        "head_ms",
        "at",
        "turn",
        "turns",
        "head_turn",
        "with_head",
        "behind",
        "behinds",
    }
)


def stripped(value: Any) -> Any:
    """An event without times and turns."""
    if isinstance(value, dict):
        made = {name: stripped(inner) for name, inner in value.items() if name not in _VOLATILE}
        if "chunks" in value:
            made["chunks"] = [text for _, text in value["chunks"]]
        return made
    if isinstance(value, list):
        return [stripped(inner) for inner in value]
    return value
