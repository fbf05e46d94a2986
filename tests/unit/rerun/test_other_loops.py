"""Event loops of other makers, and tasks that begin at once: answers come in the recorded order."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from lctl.rerun.order.conductor import Conductor
from lctl.session.concurrency import lanes
from tests.unit.rerun.concurrency import World, conduct, record


def test_uvloop_gets_its_answers_in_the_recorded_order() -> None:
    uvloop = pytest.importorskip("uvloop")

    def program(world: World) -> None:
        async def one(n: int) -> None:
            for _ in range(3):
                await world.ask_async(n)

        async def main() -> None:
            await asyncio.gather(*[one(n) for n in range(6)])

        uvloop.run(main())

    recorded = record(program)
    for _ in range(3):
        assert conduct(program, recorded).trace == recorded.trace


def test_trio_gets_its_answers_in_the_recorded_order() -> None:
    trio = pytest.importorskip("trio")
    keys = [(f"0.{n}", "exchange", 1, 0) for n in (3, 1, 2)]
    made = Conductor([(10.0 * n, key) for n, key in enumerate(keys)])
    made.install()
    seen: list[str] = []

    async def ask(key: Any) -> None:
        await made.wait_async(key)
        seen.append(key[0])

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for key in sorted(keys):
                nursery.start_soon(ask, key)

    trio.run(main)
    made.uninstall()
    assert seen == ["0.3", "0.1", "0.2"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks came with Python 3.12")
def test_eager_tasks() -> None:
    def program(world: World) -> None:
        async def main() -> None:
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)  # type: ignore[attr-defined,unused-ignore]
            await asyncio.gather(*[world.ask_async((n, lanes.current().path)) for n in range(6)])

        asyncio.run(main())

    recorded = record(program)
    assert conduct(program, recorded).trace == recorded.trace
