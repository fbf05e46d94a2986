"""A web application that asks models, and its clients in the same process: httpx's, starlette's `TestClient`."""

import asyncio

import httpx
from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

client = OpenAI()
later = []


async def note(name):
    await asyncio.sleep(0.01)
    later.append(await ask_async(AsyncOpenAI(), f"note {name}"))


async def answer(request):
    name = request.path_params["name"]
    said = await ask_async(AsyncOpenAI(), f"question {name}")
    return JSONResponse({"said": said}, background=BackgroundTask(note, name))


def in_a_thread(request):
    return JSONResponse({"said": ask(client, "in a thread")})


app = Starlette(routes=[Route("/ask/{name}", answer), Route("/thread", in_a_thread)])


async def main():
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://app") as http:
        print((await http.get("/ask/first")).json())
        for each in await asyncio.gather(*[http.get(f"/ask/{n}") for n in range(3)]):
            print(each.json())


asyncio.run(main())
with TestClient(app) as http:
    print(http.get("/ask/last").json(), http.get("/thread").json())
print(later)
