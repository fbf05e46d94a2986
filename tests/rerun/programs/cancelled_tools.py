"""Tools that the program cancels: asleep, after a model call, in a step of theirs, and several at once."""

import asyncio

from common_openai import ask_async
from openai import AsyncOpenAI

import lctl


@lctl.tool
async def sleep(n):
    await asyncio.sleep(60)


@lctl.tool
async def ask(client, n):
    answer = await ask_async(client, f"Ask {n}")
    await asyncio.sleep(60)
    return answer


@lctl.tool
async def think(n):
    await ponder(n)


@lctl.traced("thinker", "ponder")
async def ponder(n):
    await asyncio.sleep(0.01)
    await sleep(n)


async def limited(call):
    try:
        await asyncio.wait_for(call, 1)
    except TimeoutError:
        print("too late")


async def main():
    async with AsyncOpenAI() as client:
        await limited(sleep(1))
        await limited(ask(client, 2))
        await limited(think(3))
        print(await ask_async(client, "Between"))
        tasks = [asyncio.create_task(call) for call in (sleep(4), ask(client, 5), think(6))]
        await asyncio.sleep(1)
        for task in tasks:
            task.cancel()
        print(*[repr(one) for one in await asyncio.gather(*tasks, return_exceptions=True)])


asyncio.run(main())
