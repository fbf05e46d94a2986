"""A program that has been at work for a while when it begins its recording. Argument: how it does: `model`, `full`, or
`session`, where what comes after is not recorded either."""

import asyncio
import contextlib
import os
import random
import sys
import threading
import time

import lctl

HOW = sys.argv[1]


@lctl.tool
async def add(a, b):
    await asyncio.sleep(0.01)
    return a + b


def count(to):
    return sum(range(to))


async def at_work():
    """What counts tasks, threads, jobs and calls, reads clocks and chance, and prints."""
    threads = [threading.Thread(target=count, args=[10]) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    await asyncio.gather(asyncio.to_thread(count, 10), add(0, 1), add(0, 2))
    print("at work", random.random() >= 0, time.time() > 0, os.environ.get("USER") == "")


async def task(number):
    return await add(number, await asyncio.to_thread(count, 100))


def begun():
    if HOW == "session":
        return lctl.LCTLSession()
    lctl.auto_instrument(record=HOW)
    return contextlib.nullcontext()


async def main():
    await at_work()
    with begun():
        if HOW == "full":
            print(random.random(), time.time())
        print(await asyncio.gather(*(task(number) for number in range(3))))
    if HOW == "session":
        await at_work()


asyncio.run(main())
