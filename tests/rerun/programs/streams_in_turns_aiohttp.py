"""Two streams over aiohttp: one is read while the other's reader gives its loop one turn after another.

With "together" in HOW pieces of both are there when their loop has time to look.
"""

import asyncio
import os
import time

import aiohttp
from common_openai import MODEL, say

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
HEADERS = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
order = []


async def read(session, name, begun, busy):
    asked = {"model": MODEL, "messages": say(f"Tell {name}."), "stream": True}
    async with session.post(URL, json=asked, headers=HEADERS) as response:
        begun.set()
        async for line in response.content:
            if not line.strip():
                continue
            order.append(name)
            if busy:
                busy = False
                time.sleep(0.3)  # the next piece of the other one comes
                for _ in range(5):
                    order.append("turn")
                    await asyncio.sleep(0)


async def block():
    await asyncio.sleep(0.03)
    time.sleep(0.4)  # pieces of both come


async def main():
    async with aiohttp.ClientSession() as session:
        second = asyncio.Event()
        reading = asyncio.create_task(read(session, "B", second, False))
        await second.wait()
        others = [block()] if os.environ["HOW"] == "together" else []
        await asyncio.gather(read(session, "A", asyncio.Event(), True), reading, *others)


asyncio.run(main())
print(*order)
