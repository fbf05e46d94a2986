"""Tasks that draw a number and then ask, started together: by a group, in order of completion, until the first
is done, and with too little time."""

import asyncio
import random

from anthropic import AsyncAnthropic

MODEL = "claude-sonnet-5"
order = []


async def one(client, n):
    said = [{"role": "user", "content": f"Number {n} {random.random()}"}]
    message = await client.messages.create(model=MODEL, max_tokens=50, messages=said)
    return n, message.content[0].text


async def streamed(client, n):
    said = [{"role": "user", "content": f"Stream {n}"}]
    parts = []
    async with client.messages.stream(model=MODEL, max_tokens=50, messages=said) as stream:
        async for text in stream.text_stream:
            parts.append(text)
            order.append(n)
    return n, "".join(parts)


async def main():
    async with AsyncAnthropic() as client:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(client, n)) for n in range(5)]
            tasks += [group.create_task(streamed(client, n)) for n in range(3)]
        print([task.result() for task in tasks], order)
        print([await done for done in asyncio.as_completed([one(client, n) for n in range(5)])])
        tasks = [asyncio.create_task(one(client, n)) for n in range(4)]
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        print([tasks.index(task) for task in tasks if task in done])
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        try:
            async with asyncio.timeout(0.005):
                await one(client, 99)
            print("in time")
        except TimeoutError:
            print("late")


asyncio.run(main())
