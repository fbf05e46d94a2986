"""aiohttp brings a body while the program does something else: streams are left before and after their end came."""

import asyncio
import os
import time

import aiohttp
from common_openai import MODEL, say

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"


async def pieces(session, text):
    asked = {"model": MODEL, "messages": say(text), "stream": True}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    async with session.post(URL, json=asked, headers=headers) as response:
        async for line in response.content:
            if line.strip():
                yield line


async def some(session, text, count, wait):
    taken = []
    async for line in pieces(session, text):
        taken.append(len(line))
        if len(taken) == count:
            break
    await asyncio.sleep(wait)
    return taken


async def main():
    async with aiohttp.ClientSession() as session:
        print(await some(session, "One.", 2, 0.0))
        print(await some(session, "Two.", 1, 0.3))
        print(await asyncio.gather(*[some(session, f"Story {n}.", 1 + n, 0.1 * n) for n in range(3)]))
        begun = pieces(session, "Three.")
        print(len(await anext(begun)))
        await begun.aclose()
    left = pieces(aiohttp.ClientSession(), "Four.")
    print(len(await anext(left)))
    time.sleep(0.5)  # the rest comes, and is read when the loop is about to end
    await asyncio.sleep(0)
    return left


asyncio.run(main())
