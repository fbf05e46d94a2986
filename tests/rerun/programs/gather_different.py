"""Different prompts at once, with a shared counter."""

import asyncio

from common_openai import ask_async
from openai import AsyncOpenAI

taken = 0


async def worker(client, n):
    global taken
    text = await ask_async(client, f"Question {n}")
    taken += 1
    mine = taken
    again = await ask_async(client, f"Question {n}", text, f"You are number {mine}.")
    return f"{n}: {mine} {again}"


async def main():
    client = AsyncOpenAI()
    print("\n".join(await asyncio.gather(*[worker(client, n) for n in range(8)])))


asyncio.run(main())
