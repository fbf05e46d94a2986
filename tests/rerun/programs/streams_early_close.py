"""Three streams at once, read piece by piece into one list; one is left early."""

import asyncio

from common_openai import MODEL, say
from openai import AsyncOpenAI

seen = []


async def read(client, n):
    stream = await client.chat.completions.create(model=MODEL, messages=say(f"Tell story {n}."), stream=True)
    count = 0
    async for chunk in stream:
        seen.append((n, chunk.choices[0].delta.content if chunk.choices else None))
        count += 1
        if n == 1 and count == 3:
            await stream.close()
            break
    return count


async def main():
    client = AsyncOpenAI()
    print(await asyncio.gather(*[read(client, n) for n in range(3)]))
    for item in seen:
        print(*item)


asyncio.run(main())
