"""A server that is asked while a task of it is busy: at no moment does its loop have nothing to do."""

import asyncio
import sys

import uvicorn
from common_openai import ask_async
from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

client = AsyncOpenAI()
turns = 0
tasks: set[asyncio.Task[None]] = set()
looks: list[int] = []


async def count():
    global turns
    while len(looks) < 6:
        turns += 1
        await asyncio.sleep(0)


async def begin(request):
    tasks.add(asyncio.create_task(count()))
    return PlainTextResponse("begun")


async def look(request):
    looks.append(turns)
    return PlainTextResponse(await ask_async(client, f"What comes next? {looks}"))


routes = [Route("/begin", begin), Route("/look", look)]
uvicorn.run(Starlette(routes=routes), port=int(sys.argv[1]), loop="asyncio", log_level="warning")
print(looks)
