"""Tasks that read a stream each and put its pieces into one small queue: who waits for a place there gets, when
it goes on, pieces that have come meanwhile."""

import asyncio
import time

from common_openai import MODEL, say
from openai import AsyncOpenAI

client = AsyncOpenAI()


async def tell(queue, name):
    stream = await client.chat.completions.create(model=MODEL, messages=say(f"Tell {name}."), stream=True)
    async for piece in stream:
        if piece.choices and piece.choices[0].delta.content:
            await queue.put((name, piece.choices[0].delta.content))
            if piece.choices[0].delta.content.startswith("One"):
                time.sleep(0.05)  # others come
    await queue.put((name, None))


async def main():
    queue = asyncio.Queue(maxsize=2)
    tasks = [asyncio.create_task(tell(queue, name)) for name in "ABC"]
    left = len(tasks)
    while left:
        name, piece = await queue.get()
        left -= piece is None
        print(name, piece)


asyncio.run(main())
