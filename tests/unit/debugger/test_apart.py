"""Answers that a process of its own works out are those the server would give."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from lctl.debugger.apart import WORKERS, Workers
from lctl.debugger.catalogue import of_target
from lctl.debugger.routing import respond
from lctl.debugger.serving import Server
from lctl.debugger.table import ROUTES
from tests.unit.debugger.logs import review, save

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("/api/calls/diff", {"left": "10", "right": "10"}),
    ("/api/conversations", {"at": "12"}),
    ("/api/conversation", {"leaf": "m11", "limit": "2"}),
    ("/api/call/{step}", {"step": "10"}),
    ("/api/call/{step}", {"step": "11"}),
    ("/api/conversation", {"limit": "many"}),
]


@pytest.mark.slow
def test_the_same_answers_from_beside(tmp_path: Path) -> None:
    """Refusals too; questions at once wait for each other, one nobody waits for is passed over, and a worker
    that was killed has a successor."""
    path = save(tmp_path / "run.lctl.json", review())
    catalogue = of_target(path, [])
    server, routes = Server(catalogue), {route.path: route for route in ROUTES}
    assert set(WORKERS) <= set(routes)

    async def ask() -> None:
        workers = Workers(catalogue)
        gone = asyncio.ensure_future(workers.ask("/api/conversations", path.name, {}))
        await asyncio.sleep(0)
        gone.cancel()
        answers = await asyncio.gather(*(workers.ask(route, path.name, given) for route, given in ASKED))
        for (route, given), (status, body) in zip(ASKED, answers, strict=True):
            own = respond(routes[route], server, given)
            assert (status, json.loads(body)) == (own.status_code, json.loads(bytes(own.body)))
        assert [status for status, _ in answers] == [200, 200, 200, 200, 404, 400]
        for worker in [*workers.all()]:
            worker.stop()
            await worker.gone()
        assert (await workers.ask("/api/conversations", path.name, {}))[0] == 200
        for worker in [*workers.all()]:
            worker.stop()
            await worker.gone()

    asyncio.run(ask())
