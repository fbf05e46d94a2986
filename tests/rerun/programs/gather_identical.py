"""Ten equal prompts at once, whose answers differ; what is printed depends on who is answered first."""

import asyncio

from common_openai import ask_async
from openai import AsyncOpenAI

order = []


async def worker(client, n):
    first = await ask_async(client, "Draw a number.")
    order.append(n)
    second = await ask_async(client, "Draw a number.", first, f"Again, knowing {order}.")
    order.append(-n)
    return first, second


async def main():
    client = AsyncOpenAI()
    for n, pair in enumerate(await asyncio.gather(*[worker(client, n) for n in range(10)])):
        print(n, *pair)
    print(order)


asyncio.run(main())
