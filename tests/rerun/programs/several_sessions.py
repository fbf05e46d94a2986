"""Opens several sessions itself: after one another, within one another, in threads, tasks and a pool's jobs."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI

from lctl import LCTLSession


def in_turn():
    for n in range(2):
        with LCTLSession():
            print(ask(OpenAI(), f"turn {n}"))
    with LCTLSession():
        print(ask(OpenAI(), "outer"))
        with LCTLSession():
            print(ask(OpenAI(), "inner"))


def talk(name):
    with LCTLSession():
        client = OpenAI()
        return [ask(client, f"{name} {n}") for n in range(3)]


def in_threads():
    said = {}
    threads = [threading.Thread(target=lambda n=n: said.update({n: talk(n)})) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(said.items()))


def in_a_pool():
    with ThreadPoolExecutor(3) as pool:
        print(list(pool.map(talk, range(6))))


async def in_tasks():
    client = AsyncOpenAI()

    async def talk_beside(name):
        with LCTLSession():
            return [await ask_async(client, f"{name} {n}") for n in range(3)]

    print(await asyncio.gather(*[talk_beside(n) for n in range(4)]))


part = sys.argv[1]
if part == "in_tasks":
    asyncio.run(in_tasks())
else:
    {"in_turn": in_turn, "in_threads": in_threads, "in_a_pool": in_a_pool}[part]()
