"""The ten at once on uvloop."""

import asyncio

import uvloop
from common_openai import ask_async
from openai import AsyncOpenAI

order = []


async def worker(client, n):
    first = await ask_async(client, "Draw a number.")
    order.append(n)
    return first, await ask_async(client, "Draw a number.", first, f"{order}")


async def main():
    client = AsyncOpenAI()
    for pair in await asyncio.gather(*[worker(client, n) for n in range(10)]):
        print(*pair)
    print(order)


uvloop.run(main())
