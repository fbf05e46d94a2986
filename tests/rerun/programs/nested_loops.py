"""Event loops within threads within a loop; a synchronous client inside a coroutine."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI

order = []


async def inner(n):
    async with AsyncOpenAI() as client:
        return await asyncio.gather(ask_async(client, f"Inner {n} a"), ask_async(client, f"Inner {n} b"))


async def done(job, n):
    result = await job
    order.append(n)
    return result


def in_thread(n):
    return asyncio.run(inner(n))


async def main():
    client, sync = AsyncOpenAI(), OpenAI()
    print(ask(sync, "Blocking, in a coroutine"))
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(3) as pool:
        jobs = [loop.run_in_executor(pool, in_thread, n) for n in range(3)]
        outer = asyncio.create_task(ask_async(client, "Outer"))
        print(ask(sync, "Blocking, while others run"))
        print(await asyncio.gather(*(done(job, n) for n, job in enumerate(jobs))), await outer)
    await client.close()
    print(order)


asyncio.run(main())
asyncio.run(main())
