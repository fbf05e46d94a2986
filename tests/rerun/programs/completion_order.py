"""Every way of taking whoever is first: as_completed, FIRST_COMPLETED with cancel, TaskGroup, to_thread, timeouts."""

import asyncio

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI


async def main():
    client, sync = AsyncOpenAI(), OpenAI()
    for done in asyncio.as_completed([ask_async(client, f"Race {n}") for n in range(6)]):
        print("as_completed", await done)
    tasks = {asyncio.create_task(ask_async(client, f"First {n}"), name=f"racer {n}") for n in range(5)}
    done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    print("first", sorted((task.get_name(), task.result()) for task in done), len(rest))
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    print("after", await ask_async(client, f"{len(done)} won"))
    async with asyncio.TaskGroup() as group:
        grouped = [group.create_task(ask_async(client, "Same")) for _ in range(4)]
    print("group", [task.result() for task in grouped])
    results = []

    async def in_thread(n):
        results.append((n, await asyncio.to_thread(ask, sync, f"Thread {n}")))

    await asyncio.gather(*[in_thread(n) for n in range(4)])
    print("threads", results)
    try:
        async with asyncio.timeout(0.3):
            await ask_async(client, "Slow", extra_headers={"x-lctl-fault": "hang=3"})
    except TimeoutError:
        print("timed out")
    try:
        await asyncio.wait_for(ask_async(client, "Slow", extra_headers={"x-lctl-fault": "hang=3"}), 0.3)
    except TimeoutError:
        print("timed out again")
    ticks = []

    async def ticking():
        for n in range(5):
            await asyncio.sleep(0.012)
            ticks.append(n)

    async def asking(n):
        await ask_async(client, f"Beside the clock {n}")
        ticks.append(f"answer {n}")

    await asyncio.gather(ticking(), *[asking(n) for n in range(4)])
    print(ticks)


asyncio.run(main())
