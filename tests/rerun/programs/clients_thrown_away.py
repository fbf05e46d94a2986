"""Clients that are thrown away, each in a circle, look at the clock and have the loop that runs then close what they
hold, as those of Mistral do: where there is a folder `collect`, between two calls; else at the very end."""

import asyncio
import gc
import os
import time
import weakref

import httpx
from common_openai import ask_async
from openai import AsyncOpenAI


async def tidy():
    await asyncio.sleep(0)


def close(held):
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    asyncio.run_coroutine_threadsafe(held.aclose(), loop)
    asyncio.run_coroutine_threadsafe(tidy(), loop)


class Client:
    def __init__(self):
        self.itself = self
        weakref.finalize(self, close, httpx.AsyncClient())

    def __del__(self):
        self.ended = time.time()


async def main():
    async with AsyncOpenAI() as client:
        print(await asyncio.create_task(ask_async(client, "One.")))
        Client()
        if os.access("collect", os.F_OK):
            gc.collect()
        print(time.time())
        print(await asyncio.gather(*(ask_async(client, f"{number}.") for number in range(3))))


gc.disable()
asyncio.run(main())
