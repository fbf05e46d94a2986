"""anyio: task groups, cancel scopes, worker threads, streams between tasks."""

import anyio
import anyio.to_thread
from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI


async def main():
    client, sync = AsyncOpenAI(), OpenAI()
    send, receive = anyio.create_memory_object_stream(100)

    async def produce(n):
        await send.send((n, await ask_async(client, f"Produce {n}")))

    async def threaded(n):
        await send.send((n, await anyio.to_thread.run_sync(ask, sync, f"Thread {n}")))

    async with anyio.create_task_group() as group:
        for n in range(4):
            group.start_soon(produce, n)
            group.start_soon(threaded, 10 + n)
    send.close()
    async for item in receive:
        print(item)
    with anyio.move_on_after(0.3) as scope:
        await ask_async(client, "Slow", extra_headers={"x-lctl-fault": "hang=3"})
    print("cancelled", scope.cancelled_caught)
    print(await ask_async(client, "Last"))


anyio.run(main)
