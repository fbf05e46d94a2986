"""Questions that go through all of a long log, answered by a process of their own.

The server stays quick and small: what such an answer needs is worked out beside it, kept there for the next
question of the kind, and gone when nobody has asked for a while. Its first line says which runs there are
(not its arguments, which everybody sees: an address may hold a password), each further one is a question;
`status length` and so many bytes are the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from lctl.debugger.catalogue import Catalogue

#: Route -> the worker that answers it: what shares a tree shares a worker.
WORKERS = {
    "/api/conversations": "talk",
    "/api/conversation": "talk",
    "/api/call/{step}": "talk",
    "/api/calls/diff": "talk",
    "/api/blob": "talk",
    "/api/sql": "sql",
    "/api/compare": "compare",
    "/api/compare/rows": "compare",
}
_IDLE = 120.0  # seconds
_LIMIT = 1 << 28


class _Asked(msgspec.Struct):
    route: str
    given: dict[str, Any]


class Workers:
    """Those of one server, by run and kind."""

    def __init__(self, runs: Catalogue) -> None:
        self._runs = runs
        self._workers: dict[tuple[str, str], Worker] = {}

    async def ask(self, route: str, key: str, given: dict[str, Any]) -> tuple[int, bytes]:
        """Status and body of the answer."""
        name = (key, WORKERS[route])
        worker = self._workers.get(name)
        if worker is None or worker.ended:
            worker = self._workers[name] = Worker(self._runs)
        return await worker.ask(_Asked(route, given))

    def all(self) -> Iterator[Worker]:
        """Those there are."""
        return (worker for worker in self._workers.values() if not worker.ended)


class Worker:
    """One process. Questions wait for each other; one whose asker has gone before its turn is not asked."""

    def __init__(self, runs: Catalogue) -> None:
        self._recipe = msgspec.json.encode(runs.recipe()) + b"\n"
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._answering: set[asyncio.Task[tuple[int, bytes]]] = set()
        self.ended = False

    async def ask(self, asked: _Asked) -> tuple[int, bytes]:
        async with self._turn:
            # What was asked is answered, whoever still waits: its answer must be read from the pipe.
            task = asyncio.ensure_future(self._exchange(asked))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
            try:
                return await asyncio.shield(task)
            except asyncio.CancelledError:
                with contextlib.suppress(Exception):
                    await task
                raise

    async def _exchange(self, asked: _Asked) -> tuple[int, bytes]:
        if self._idle is not None:
            self._idle.cancel()
        process = await self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(msgspec.json.encode(asked) + b"\n")
            await process.stdin.drain()
            status, length = (await process.stdout.readline()).split()
            body = await process.stdout.readexactly(int(length))
        except (ValueError, ConnectionError, asyncio.IncompleteReadError):
            self.ended = True
            raise RuntimeError("the process that worked it out has ended") from None
        self._idle = asyncio.get_running_loop().call_later(_IDLE, self.stop)
        return int(status), body

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "lctl.debugger.apart",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LIMIT,
            )
            assert self._process.stdin is not None
            self._process.stdin.write(self._recipe)
        return self._process

    def stop(self) -> None:
        """Its input ends, and with that the process."""
        self.ended = True
        if self._idle is not None:
            self._idle.cancel()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def gone(self) -> None:
        """Wait for its end."""
        if self._process is not None:
            await self._process.wait()


def main() -> None:
    """The process: answers lines until there are no more."""
    from lctl.debugger.routing import respond
    from lctl.debugger.serving import SWITCH, Server
    from lctl.debugger.table import ROUTES

    sys.setswitchinterval(SWITCH)  # a long reading goes on beside the answers
    server = Server(_catalogue(msgspec.json.decode(sys.stdin.buffer.readline(), type=dict[str, Any])))
    server.runs.prices.start()  # loaded beside the first answer, which asks for them
    routes = {route.path: route for route in ROUTES}
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else is written among the answers
    for line in sys.stdin.buffer:
        asked = msgspec.json.decode(line, type=_Asked)
        route = routes[asked.route]
        response = respond(route, server, asked.given)
        answers.write(b"%d %d\n" % (response.status_code, len(response.body)))
        answers.write(response.body)
        answers.flush()


def _catalogue(recipe: dict[str, Any]) -> Catalogue:
    if "store" in recipe:
        from lctl.debugger.shared.spool import Spool
        from lctl.debugger.shared.storeruns import StoreRuns
        from lctl.stores.address import Address

        scheme, place, chain, options, shown = recipe["store"]
        address = Address(scheme, place, chain, tuple(map(tuple, options)), shown)
        return StoreRuns(address, spool=Spool(Path(recipe["spool"])), helped=False)
    target = Path(recipe["target"]) if recipe["target"] else None
    return Catalogue([Path(folder) for folder in recipe["folders"]], target, helped=False)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
