"""A planner, three workers in parallel, a reviewer who reads what they found."""

import asyncio

from common_openai import ask_async
from openai import AsyncOpenAI

found = []


async def worker(client, task):
    notes = await ask_async(client, f"Work on: {task}")
    found.append(notes)
    return await ask_async(client, f"Work on: {task}", notes, f"Others found {len(found) - 1} things.")


async def main():
    client = AsyncOpenAI()
    plan = await ask_async(client, "Plan the work.")
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(worker(client, f"{plan} part {n}")) for n in range(3)]
    print(await ask_async(client, "Review.", plan, " ".join(task.result() for task in tasks) + str(found)))
    print(found)


asyncio.run(main())
