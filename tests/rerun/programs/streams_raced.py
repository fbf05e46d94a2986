"""Of several streams the first that ends wins, and the others are cancelled: last to first where there is a file
`reversed`. (A set of tasks is gone through by their addresses.)"""

import asyncio
import os

from common_openai import MODEL, say
from openai import AsyncOpenAI


async def read(client, n):
    asked = {"model": MODEL, "messages": say(f"Story {n}."), "stream": True}
    pieces = []
    async with await client.chat.completions.create(**asked) as stream:
        async for chunk in stream:
            pieces += [choice.delta.content or "" for choice in chunk.choices]
    return "".join(pieces)


async def main():
    async with AsyncOpenAI() as client:
        for turn in range(6):
            tasks = [asyncio.create_task(read(client, f"{turn} {n}")) for n in range(4)]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks[::-1] if os.access("reversed", os.F_OK) else tasks:
                task.cancel()
            await asyncio.wait(tasks)
            print(*[task.result() for task in tasks if task in done])


asyncio.run(main())
