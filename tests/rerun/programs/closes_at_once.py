"""Streams and answers that reach a loop in one turn, because something held it: the closes of their responses
take turns."""

import asyncio
import os
import time

import httpx

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"


def asked(text, stream):
    return {"model": "m", "messages": [{"role": "user", "content": text}], "stream": stream}


async def answer(client, n):
    response = await client.post(URL, json=asked(f"Answer {n}", False))
    return len(response.json()["choices"])


async def stream(client, n):
    async with client.stream("POST", URL, json=asked(f"Stream {n}", True)) as response:
        return len([line async for line in response.aiter_lines() if line.startswith("data")])


async def hold():
    for _ in range(6):
        await asyncio.sleep(0.02)
        time.sleep(0.1)


async def main():
    async with httpx.AsyncClient() as client, httpx.AsyncClient() as other:
        print(
            await asyncio.gather(
                hold(), *(f(c, n) for n in range(3) for f, c in ((answer, client), (stream, other)))
            )
        )


asyncio.run(main())
