"""Jobs of a pool that a loop waits for. When threads begin (BEGIN), how long they work (WORK), and how long they take
from a job's end until the loop hears of it (TELL), the environment says: seconds, one for each."""

import asyncio
import itertools
import os
import select
from concurrent.futures import ThreadPoolExecutor

from common_openai import ask_async
from openai import AsyncOpenAI

import lctl

lctl.auto_instrument()
JOBS = 3
order = []


def stand(what, n):
    """In the world's time, whatever becomes of the program's."""
    seconds = float(os.environ.get(what, "0,0,0").split(",")[n])
    if seconds:
        select.select([], [], [], seconds)


class Pool(ThreadPoolExecutor):
    def __init__(self):
        threads = itertools.count()
        super().__init__(JOBS, initializer=lambda: stand("BEGIN", next(threads)))

    def submit(self, function, *args):
        job = super().submit(function, *args)
        job.add_done_callback(lambda _: stand("TELL", args[-1]))  # before asyncio's own
        return job


async def task(client, pool, n):
    await asyncio.get_running_loop().run_in_executor(pool, stand, "WORK", n)
    order.append(n)
    return await ask_async(client, f"Job {n}")


async def main():
    async with AsyncOpenAI() as client:
        with Pool() as pool:
            print(await asyncio.gather(*(task(client, pool, n) for n in range(JOBS))), order)


asyncio.run(main())
