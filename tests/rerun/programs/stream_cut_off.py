"""A task is cancelled between two pieces of a stream. Nobody closes that: the SDK's generators hold each other until
the collector comes (where there is a folder `collect`: between two calls) and has the loop close them."""

import asyncio
import gc
import os

from common_openai import MODEL, ask_async, say
from openai import AsyncOpenAI


async def read(client):
    stream = await client.chat.completions.create(model=MODEL, messages=say("Tell a story."), stream=True)
    async for _ in stream:
        await asyncio.sleep(60)


async def main():
    async with AsyncOpenAI() as client:
        print(await ask_async(client, "One."))
        try:
            await asyncio.wait_for(read(client), 0.5)
        except TimeoutError:
            print("too late")
        print(await ask_async(client, "Two."))
        if os.access("collect", os.F_OK):
            gc.collect()
        print(await ask_async(client, "Three."))


gc.disable()
asyncio.run(main())
