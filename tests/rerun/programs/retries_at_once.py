"""Calls that are tried again while others go on, with tools in between."""

import asyncio

from common_openai import ask_async
from openai import AsyncOpenAI

import lctl

told = []


@lctl.tool
async def look(name):
    await asyncio.sleep(0.004)
    return name.upper()


async def work(client, n):
    faults = {"x-lctl-fault": "status=429; times=1; retry-after=1"} if n % 3 == 0 else {}
    answer = await ask_async(client, f"Begin {n}", extra_headers=faults)
    for step in range(3):
        told.append((n, step, len(await look(answer[:9]))))
        answer = await ask_async(client, f"{n}, {step}: {answer[:20]}")
    return answer


async def main():
    async with AsyncOpenAI() as client:
        for answer in asyncio.as_completed([work(client, n) for n in range(6)]):
            print(await answer)
    print(told)


asyncio.run(main())
