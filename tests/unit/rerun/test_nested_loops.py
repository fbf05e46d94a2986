"""Threads with event loops of their own end while the loop that started them is blocked: what waits for them
goes on in the recorded order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lctl.rerun.order.spots import LAST, Spot
from tests.unit.rerun.concurrency import World, conduct, record

THREADS = 3


def nested(world: World) -> None:
    async def inner(n: int) -> None:
        await world.ask_async(("answer", n))
        world.tell(("on", n))  # a place of its own, after the answer

    def in_thread(n: int) -> None:
        asyncio.run(inner(n))

    async def done(job: asyncio.Future[None], n: int) -> None:
        await job
        world.trace.append(("done", n))

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(THREADS) as pool:
            jobs = [loop.run_in_executor(pool, in_thread, n) for n in range(THREADS)]
            world.ask(("main", 0))
            await asyncio.gather(*(done(job, n) for n, job in enumerate(jobs)))

    asyncio.run(main())


def arranged(order: Sequence[int], answers: Sequence[int], behind: int) -> World:
    """The threads' results reach the blocked loop in the turn after its answer, `behind` of its tasks."""
    found = record(nested)
    told = [what for what in found.trace if what[0] != "done"]
    keys: dict[Any, Any] = {}
    for _, key, *_ in found.moments:
        if key[1] == "wake":
            keys["wake", key[0]] = key
        else:
            keys[told.pop(0)] = key
    jobs = {n: f"0.1.{n + 1}" for n in range(THREADS)}
    kept = [n for n in order if n not in answers]
    moments = [(keys["answer", n], 99) for n in kept] + [(keys["main", 0], 99)]
    moments += [(keys["answer", n], 99) for n in answers]
    turn = 1
    for n in order:
        moments.append((keys["on", n], 0))
        moments.append((keys["wake", jobs[n]], turn))
        turn = 0
    found.moments = [
        (10.0 + at, key, turn, Spot(None, behind) if key[1] == "wake" and behind else LAST)
        for at, (key, turn) in enumerate(moments)
    ]
    return found


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0), (0, 2, 1)])
@pytest.mark.parametrize("answers", [(), (0,), (2, 1, 0)])
def test_what_waits_for_threads_goes_on_as_recorded(order: Sequence[int], answers: Sequence[int]) -> None:
    """Before its tasks have begun to wait all results are there: they go on in their own order."""
    recorded = arranged(order, answers, THREADS)
    for _ in range(5):
        trace = conduct(nested, recorded).trace
        assert [what for what in trace if what[0] == "done"] == [("done", n) for n in range(THREADS)]


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0), (0, 2, 1)])
@pytest.mark.parametrize("answers", [(), (0,), (2, 1, 0)])
def test_what_had_begun_to_wait_goes_on_in_their_order(order: Sequence[int], answers: Sequence[int]) -> None:
    """The results come behind the tasks' first steps in the same turn."""
    recorded = arranged(order, answers, 0)
    for _ in range(5):
        trace = conduct(nested, recorded).trace
        assert [what for what in trace if what[0] == "done"] == [("done", n) for n in order]
