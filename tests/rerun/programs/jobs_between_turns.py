"""Jobs of a pool end while their loop is busy with other tasks: in which turn, and where in it, is the threads'
affair. SEED is what the numbers are drawn from."""

import asyncio
import os
import random
from concurrent.futures import ThreadPoolExecutor


def count(to):
    return sum(range(to))


async def work(name, pool, draw, depth=0):
    loop = asyncio.get_running_loop()
    for number in range(15):
        kind, to = draw.random(), draw.choice([10, 100, 1000, 20_000, 60_000])
        if kind < 0.6:
            await loop.run_in_executor(pool, count, to)
        elif kind < 0.85:
            for _ in range(draw.randint(1, 3)):
                await asyncio.sleep(0)
        elif depth < 1:
            await asyncio.gather(*(work(f"{name}.{n}", pool, draw, depth + 1) for n in range(2)))
        print(name, number)


async def main(seed):
    with ThreadPoolExecutor(10) as pool:
        for many in (2, 3, 4):
            await asyncio.gather(*(work(n, pool, random.Random(seed + n)) for n in range(many)))


asyncio.run(main(int(os.environ["SEED"])))
