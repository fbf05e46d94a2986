"""Polls, in a thread and in two tasks, until somebody kills it."""

import asyncio
import itertools
import threading
import time


def tick():
    for number in itertools.count():
        time.sleep(0.03)
        print("thread", number, flush=True)


async def poll(name, pause):
    for number in itertools.count():
        await asyncio.sleep(pause)
        print(name, number, flush=True)


async def main():
    await asyncio.gather(poll("first", 0.05), poll("second", 0.07))


threading.Thread(target=tick).start()
asyncio.run(main())
