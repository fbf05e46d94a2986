"""Following a run, and a folder, as they grow: what came since the last message, put together.

However fast a program records, a page gets some ten messages a second: how many events, of whom, which
errors, and the newest of them as rows.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as Endpoint

from lctl.debugger import routing
from lctl.debugger.opened import Opened
from lctl.debugger.serving import Server
from lctl.debugger.streaming import ENDING, HEADERS, PING, told
from lctl.debugger.threads import in_thread
from lctl.debugger.views.rows import events_from, row
from lctl.debugger.views.runs import status_of

_PAUSE = 0.1
_FOLDER_PAUSE = 1.0
_PING = 15.0
_ROWS = 100
_ERRORS = 1000
#: Seconds without news after which it is asked whether the writer still lives.
_QUIET = 1.0

_NOTES = {
    "closed": "the run has ended",
    "reopened": "the run goes on: its log was reopened",
    "replaced": "the file was replaced by another log",
    "gone": "the file is gone",
    "abandoned": "the program is gone, without closing its log",
}


def endpoints(server: Server) -> list[Endpoint]:
    async def run(request: Request) -> Response:
        try:
            opened = await in_thread(server.runs.open, request.query_params.get("run"))
            after = _after(request, opened)
        except Exception as error:
            return routing.refused(error)
        return StreamingResponse(_follow(opened, after), media_type="text/event-stream", headers=HEADERS)

    async def folder(request: Request) -> Response:
        return StreamingResponse(_watch(server), media_type="text/event-stream", headers=HEADERS)

    return [Endpoint("/api/live", run), Endpoint("/api/runs/live", folder)]


def _after(request: Request, opened: Opened) -> int:
    """The seq the page has already."""
    for given in (request.headers.get("last-event-id"), request.query_params.get("after")):
        if given is not None and given.lstrip("-").isdigit() and len(given) < 19:
            return int(given)
    return opened.log.last_seq


class Following:
    """One page's place in a run."""

    def __init__(self, run: Opened, seen: int) -> None:
        self.run = run
        self.seen = seen
        self.ended = False
        self._generation = run.generation
        self._was_open = run.log.open
        self._news = time.monotonic()

    def step(self) -> list[bytes]:
        """What there is to tell since the last step."""
        run = self.run.refresh()
        if run.generation != self._generation:
            return self._end("replaced")
        said: list[bytes] = []
        if run.log.open and not self._was_open:
            said.append(_note("reopened"))
        self._was_open = run.log.open
        if run.log.last_seq > self.seen:
            said.append(self._batch())
            self._news = time.monotonic()
        if run.is_gone:
            return said + self._end("gone")
        if not run.log.open:
            return said + self._end("closed")
        if time.monotonic() - self._news > _QUIET and not run.live:
            if run.refresh().log.last_seq > self.seen:
                return said  # it wrote its last words meanwhile
            return said + self._end("abandoned")
        return said

    def _end(self, what: str) -> list[bytes]:
        self.ended = True
        return [_note(what)]

    def _batch(self) -> bytes:
        run, first = self.run, max(self.seen + 1, self.run.log.first_seq)
        columns = run.columns_now(patience=1.0)
        last = run.log.last_seq
        events = last - first + 1
        shown = [
            row(run, event, size) for event, size in events_from(run, max(first, last - _ROWS + 1), last + 1)
        ]
        counts = Counter(columns.agents[columns.row(first) : columns.row(last + 1)])
        errors, _ = columns.between(columns.errors, first, last, _ERRORS)
        self.seen = last
        batch: dict[str, Any] = {
            "from": first,
            "to": last,
            "events": events,
            "rows": shown,
            "skipped": max(0, events - len(shown)),
            "agents": {columns.names[code]: count for code, count in counts.items()},
            "errors": errors,
            "ms": shown[-1].ms if shown else None,
            "events_total": len(run.log),
        }
        return told("batch", batch, last)


def _note(what: str) -> bytes:
    return told("note", {"what": what, "text": _NOTES[what]})


async def _follow(run: Opened, after: int) -> AsyncIterator[bytes]:
    following = Following(run, after)
    pinged = time.monotonic()
    yield PING  # the page knows that it is connected
    while not (following.ended or ENDING.is_set()):
        for message in await in_thread(following.step):
            yield message
        if time.monotonic() - pinged > _PING:
            pinged = time.monotonic()
            yield PING
        if not following.ended:
            await asyncio.sleep(_PAUSE)


async def _watch(server: Server) -> AsyncIterator[bytes]:
    known: dict[str, tuple[int, str]] | None = None
    pinged = time.monotonic()
    yield PING
    while not ENDING.is_set():
        now = await in_thread(_statuses, server)
        live = [key for key, (_, status) in now.items() if status == "live"]
        if known is None:
            if live:
                yield told("runs", {"changed": [], "live": live})
        elif now != known:
            changed = [key for key in {**known, **now} if known.get(key) != now.get(key)]
            yield told("runs", {"changed": changed, "live": live})
        known = now
        if time.monotonic() - pinged > _PING:
            pinged = time.monotonic()
            yield PING
        await asyncio.sleep(_FOLDER_PAUSE)


def _statuses(server: Server) -> dict[str, tuple[int, str]]:
    return {key: (run.size, status_of(run)) for key, run in server.runs.runs()}
