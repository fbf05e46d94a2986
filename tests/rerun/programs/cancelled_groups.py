"""Groups whose tasks are cancelled together, and sets of tasks that are gone through as asyncio gives them."""

import asyncio

import anyio
from common_openai import ask_async
from openai import AsyncOpenAI


async def fail(client):
    await ask_async(client, "Fail")
    await asyncio.sleep(0.3)
    raise ValueError("failed")


async def late(client, n):
    try:
        await ask_async(client, f"Late {n}")
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cancelled", n)
        raise


async def main():
    async with AsyncOpenAI() as openai:
        try:
            async with asyncio.TaskGroup() as group:
                for n in range(8):
                    group.create_task(late(openai, n))
                group.create_task(fail(openai))
        except* ValueError as errors:
            print(len(errors.exceptions))
        async with anyio.create_task_group() as group:
            for n in range(20, 26):
                group.start_soon(late, openai, n)
            await anyio.sleep(0.2)
            group.cancel_scope.cancel()
        waiting = {asyncio.create_task(ask_async(openai, f"Wait {n}"), name=f"wait {n}") for n in range(6)}
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                print(task.get_name(), task.result())
        left = [asyncio.create_task(late(openai, n)) for n in range(30, 36)]
        await asyncio.sleep(0.2)
        print(len(left))


asyncio.run(main())
