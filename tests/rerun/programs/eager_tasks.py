"""Eager tasks (Python 3.12): a task runs before create_task returns."""

import asyncio

from common_openai import ask_async
from openai import AsyncOpenAI

order = []


async def worker(client, n):
    first = await ask_async(client, "Draw a number.")
    order.append(n)
    return first, await ask_async(client, "Draw a number.", first, f"{order}")


async def main():
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    client = AsyncOpenAI()
    for pair in await asyncio.gather(*[worker(client, n) for n in range(6)]):
        print(*pair)
    print(order)


asyncio.run(main())
