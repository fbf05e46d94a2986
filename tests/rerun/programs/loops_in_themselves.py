"""Loops that run inside of one, as notebooks' users have them: calls at once, sleeps, limits, jobs of a pool."""

import asyncio
import time

import nest_asyncio
from common_openai import ask_async
from openai import AsyncOpenAI

nest_asyncio.apply()
client = AsyncOpenAI()
came = []


async def one(n: int) -> str:
    await asyncio.sleep(0.01 * (n % 3))
    answer = await ask_async(client, f"question {n}")
    came.append(n)
    await asyncio.to_thread(time.sleep, 0.01)
    return answer


async def several(first: int) -> list[str]:
    return await asyncio.gather(*(one(n) for n in range(first, first + 4)))


async def waiting() -> str:
    try:
        async with asyncio.timeout(0.2):
            await asyncio.sleep(30)
    except TimeoutError:
        return "waited in vain"
    return "slept"


async def main() -> None:
    print(await one(0))
    print(asyncio.run(several(1)))
    beside = asyncio.ensure_future(several(5))
    print(asyncio.get_event_loop().run_until_complete(several(9)))
    print(await beside, came)
    print(asyncio.run(waiting()))
    await asyncio.sleep(3)


asyncio.run(main())
print(came)
