"""Requests over aiohttp that limits of the program end: what is known of them, and where they wait."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from lctl.rerun.order.moments import ENDED, START
from lctl.rerun.order.ordering import deliveries
from lctl.rerun.tape import crossings
from lctl.session.concurrency import spawning, turnplaces


def _delivered(**told: Any) -> list[tuple[int, float, int | None]]:
    data = {"kind": "http", "status": 200, "at": 10.0, "duration_ms": 60.0, "lane": "0.1", "turn": 1, **told}
    event = {"seq": 2, "type": "exchange", "timestamp": "2026-11-21T14:43:36Z", "data": data}
    found = deliveries([crossings.exchange(event, data, 1)])
    return [(one.key[3], round(one.at_ms, 1), one.turn) for one in found]


def test_a_body_that_is_left_comes_behind_its_head() -> None:
    """The head is not taken to come at the end, when the program had left for long."""
    found = _delivered(complete=False, closed_early=True, head_ms=20.0, head_turn=4)
    assert found == [(START, 10.0, None), (0, 30.0, 4), (ENDED, 70.0, 1)]


def test_a_body_that_comes_late_comes_in_a_turn_of_its_own() -> None:
    found = _delivered(complete=True, status=404, head_ms=20.0, head_turn=4)
    assert found == [(START, 10.0, None), (0, 30.0, 4), (1, 70.0, 1), (ENDED, 70.0, 0)]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="it makes no task any more")
def test_who_waits_with_a_limit_is_told_from_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawning, "wait_for", asyncio.wait_for.__code__)

    async def asks() -> None:
        await asyncio.sleep(9)

    async def waits() -> None:
        await asyncio.wait_for(asks(), 9)

    async def main() -> list[bool]:
        task = asyncio.ensure_future(waits())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        limits = [turnplaces._limits(one.get_coro()) for one in asyncio.all_tasks()]
        own = turnplaces._limits(task.get_coro())
        task.cancel()
        return [own, sum(limits) == 1]

    assert asyncio.run(main()) == [True, True]
