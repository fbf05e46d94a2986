"""Threads of a pool make calls; then the same pool, and threads that took over the numbers of others, hand
results to an event loop that makes calls of its own."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI

client = OpenAI()
order = []


def plain(n):
    return n * n


async def worker(n, pool, models):
    told = await ask_async(models, f"Worker {n}")
    made = await asyncio.get_running_loop().run_in_executor(pool, plain, n)
    order.append((n, made))
    return told, await asyncio.to_thread(plain, n), await ask_async(models, f"Worker {n} again")


async def main(pool):
    async with AsyncOpenAI() as models:
        return await asyncio.gather(*(worker(n, pool, models) for n in range(4)))


with ThreadPoolExecutor(3) as pool:
    print(list(pool.map(lambda n: ask(client, f"River {n}"), range(5))))
    for n in range(3):
        thread = threading.Thread(target=ask, args=(client, f"Thread {n}"))
        thread.start()
        thread.join()
    print(asyncio.run(main(pool)), order)
