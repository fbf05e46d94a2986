"""A worker thread that a tool's body started does a job of the program's later: a rerun, which does not run the
body, starts one for it."""

import asyncio

import anyio
import lctl
from common_openai import ask_async
from openai import AsyncOpenAI


def work(number):
    return number + 1


@lctl.tool
async def count(number: int) -> int:
    return await anyio.to_thread.run_sync(work, number)


async def main():
    client = AsyncOpenAI(max_retries=0)
    counted = await count(1)
    again = await anyio.to_thread.run_sync(work, counted)
    print(again, await ask_async(client, "Tell."))


asyncio.run(main())
