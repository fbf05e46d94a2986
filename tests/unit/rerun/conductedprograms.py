"""Programs of threads and tasks that take what others give, for the order of a rerun."""

from __future__ import annotations

import asyncio
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.unit.rerun.concurrency import World


def raw_threads(world: World) -> None:
    def run(n: int) -> None:
        for _ in range(5):
            world.ask(n)

    run_threads(run, range(4))


def pool(world: World) -> None:
    with ThreadPoolExecutor(3) as executor:
        list(executor.map(lambda n: (world.ask(n), world.ask(-n)), range(8)))


def gathered(world: World) -> None:
    async def one(n: int) -> None:
        for _ in range(3):
            await world.ask_async(n)

    async def main() -> None:
        await asyncio.gather(*[one(n) for n in range(10)])

    asyncio.run(main())


def as_completed(world: World) -> None:
    async def main() -> None:
        for first in asyncio.as_completed([world.ask_async(n) for n in range(6)]):
            world.trace.append(("completed", await first))
        async with asyncio.TaskGroup() as group:
            for n in range(4):
                group.create_task(world.ask_async(n))

    asyncio.run(main())


def first_completed(world: World) -> None:
    """Answers that come in the same turn of the loop are taken together."""

    async def main() -> None:
        for _ in range(4):
            tasks = [asyncio.create_task(world.ask_async(n)) for n in range(6)]
            done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            world.trace.append((sorted(task.result() for task in done), len(rest)))
            await asyncio.gather(*rest)

    asyncio.run(main())


def mixed(world: World) -> None:
    def run(n: int) -> None:
        for _ in range(4):
            world.ask(n)

    async def one(n: int) -> None:
        for _ in range(2):
            await world.ask_async(n)

    async def main() -> None:
        in_threads = [asyncio.to_thread(run, n) for n in (10, 11)]
        await asyncio.gather(*[one(n) for n in range(5)], *in_threads)

    threads = [threading.Thread(target=run, args=(n,)) for n in (20, 21)]
    for thread in threads:
        thread.start()
    asyncio.run(main())
    for thread in threads:
        thread.join()


def results_of_threads(world: World) -> None:
    """What a thread hands to the loop comes between the loop's own answers."""

    async def own(n: int) -> None:
        await world.ask_async(n)
        world.trace.append(("own", n))

    async def other(n: int) -> None:
        await asyncio.to_thread(world.ask, n)
        world.trace.append(("other", n))

    async def main() -> None:
        await asyncio.gather(*[one(n) for n in range(5) for one in (own, other)])

    asyncio.run(main())


def loops_in_threads(world: World) -> None:
    async def inner(n: int) -> None:
        await asyncio.gather(world.ask_async(n), world.ask_async(n + 1))

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(3) as executor:
            jobs = [loop.run_in_executor(executor, asyncio.run, inner(10 * n)) for n in range(3)]
            outer = asyncio.create_task(world.ask_async("outer"))
            world.ask("blocking the loop")
            await asyncio.gather(*jobs, outer)

    asyncio.run(main())


def consumers(world: World) -> None:
    jobs: queue.Queue[int | None] = queue.Queue()

    def consume() -> None:
        while (job := jobs.get()) is not None:
            world.ask(job)

    consumer = threading.Thread(target=consume)
    consumer.start()
    for n in range(6):
        world.ask(f"made {n}")
        jobs.put(n)
    jobs.put(None)
    consumer.join()


PROGRAMS = [
    raw_threads,
    pool,
    gathered,
    as_completed,
    first_completed,
    mixed,
    results_of_threads,
    loops_in_threads,
    consumers,
]


def run_threads(run: Any, each: Any) -> None:
    threads = [threading.Thread(target=run, args=(one,)) for one in each]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
