"""A stream has begun, and its first piece has not come: who waited for the one goes on before the other."""

import asyncio
import os
import threading

from common_openai import MODEL, ask, ask_async, say
from openai import AsyncOpenAI, OpenAI

order = []


async def read(client, begun):
    asked = await client.chat.completions.create(model=MODEL, messages=say("Tell."), stream=True)
    begun.set()
    async for _ in asked:
        order.append("piece")


async def follow(client, begun):
    await begun.wait()
    order.append(await ask_async(client, "Quickly."))


async def main():
    client, begun = AsyncOpenAI(max_retries=0), asyncio.Event()
    await asyncio.gather(read(client, begun), follow(client, begun))


def read_in_thread(client, begun):
    asked = client.chat.completions.create(model=MODEL, messages=say("Tell."), stream=True)
    begun.set()
    for _ in asked:
        order.append("piece")


def in_threads():
    client, begun = OpenAI(max_retries=0), threading.Event()
    reading = threading.Thread(target=read_in_thread, args=(client, begun))
    reading.start()
    begun.wait()
    order.append(ask(client, "Quickly."))
    reading.join()


if os.environ["HOW"] == "tasks":
    asyncio.run(main())
else:
    in_threads()
print(*order)
