"""Answers that reached an event loop in one turn do so again, whoever asked last."""

from __future__ import annotations

import asyncio

import pytest

from lctl.rerun.spots import LAST
from tests.unit.rerun.concurrency import World, conduct


def first_completed(world: World) -> None:
    async def main() -> None:
        tasks = [asyncio.create_task(world.ask_async(n)) for n in range(4)]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        world.trace.append(sorted(task.result() for task in done))
        await asyncio.gather(*tasks)

    asyncio.run(main())


@pytest.mark.parametrize("order", [(3, 0, 1, 2), (0, 3, 1, 2), (2, 1, 3, 0)])
def test_who_asked_last_does_not_go_on_a_turn_before_the_others(order: tuple[int, ...]) -> None:
    """Two in one turn and two in the next: what waits for the first finds all four."""
    recorded = World()
    for place, (number, turn) in enumerate(zip(order, (99, 0, 1, 0), strict=True)):
        key = (f"0.1.{number + 1}", "exchange", 1, 0)
        recorded.moments.append((10.0 + place, key, turn, LAST))
    for _ in range(3):
        assert conduct(first_completed, recorded).trace == [*order, [0, 1, 2, 3]]
