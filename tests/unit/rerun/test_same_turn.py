"""Answers that reached an event loop in one turn do so again, whoever asked last."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lctl.rerun.spots import LAST
from tests.unit.rerun.commands import Run
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


_GIVING_WAY = """
import lctl
lctl.auto_instrument()
import asyncio

@lctl.tool
async def look(n):
    await asyncio.sleep(0)
    return n

async def call(n):
    print("tool", n, await look(n))

async def give_way(n):
    for turn in range(4):
        print("task", n, turn)
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(give_way(0), call(1), give_way(2), call(3), give_way(4))

asyncio.run(main())
"""


def test_a_served_tool_ends_in_its_turn_among_tasks_that_give_way(
    lctl: Run, python: Run, tmp_path: Path
) -> None:
    """One line, and no model call beside: turns are counted from the tool on."""
    (tmp_path / "agent.py").write_text(_GIVING_WAY)
    recorded = python("agent.py")
    again = lctl("rerun", "last")
    assert "rerun exact" in again.stderr, again.stderr
    assert again.stdout == recorded.stdout
    assert recorded.stdout.count("tool") == 2
