"""Clients that are thrown away, each in a circle, and run a loop of their own to close what they hold, as those of
Mistral do where none runs: where there is a folder `collect`, in threads that an event loop waits for."""

import asyncio
import gc
import os
import threading
import weakref

import httpx
from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI

collects = os.access("collect", os.F_OK)


async def close(held):
    await asyncio.sleep(0)
    await held.aclose()
    await asyncio.sleep(0.001)


class Client:
    def __init__(self):
        self.itself = self
        weakref.finalize(self, lambda held: asyncio.run(close(held)), httpx.AsyncClient()).atexit = False


def work(client, number):
    Client()
    if collects:
        gc.collect()
    answer = ask(client, f"{number}.")
    Client()
    if collects:
        gc.collect()
    return answer


async def main():
    with OpenAI() as client:
        jobs = [asyncio.create_task(asyncio.to_thread(work, client, number)) for number in range(4)]
        async with AsyncOpenAI() as other:
            print(await asyncio.gather(*(ask_async(other, f"{number}!") for number in range(4))))
            print(await asyncio.gather(*jobs))
            thread = threading.Thread(target=work, args=(client, 9))
            thread.start()
            print(await ask_async(other, "Last."))
            thread.join()


gc.disable()
asyncio.run(main())
