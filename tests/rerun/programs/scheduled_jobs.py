"""APScheduler on an event loop: a job at intervals and one at once, whose order is in the prompts."""

import asyncio

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from common_openai import ask_async
from openai import AsyncOpenAI

client = AsyncOpenAI()


async def main():
    done, order = asyncio.Event(), []

    async def job(name):
        order.append(name)
        print(name, await ask_async(client, f"{name} after {order}"))
        if len(order) >= 4:
            done.set()

    scheduler = AsyncIOScheduler()
    scheduler.start()
    scheduler.add_job(job, "interval", seconds=1, args=["often"], max_instances=9)
    scheduler.add_job(job, "date", args=["at once"])
    await done.wait()
    scheduler.shutdown()


asyncio.run(main())
