"""A server whose threads read the files of a page, which are asked for at nearly the same time."""

import sys
from pathlib import Path

import uvicorn
from common_limits import compute
from common_openai import ask_async
from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import Route

client = AsyncOpenAI()
given: list[str] = []


async def give(request):
    name = request.path_params["name"]
    file = Path(__file__ if name.endswith("a") else uvicorn.__file__)
    return FileResponse(file, background=BackgroundTask(note, name))


async def note(name):
    given.append(name)


async def show(request):
    compute(0.05)  # what comes meanwhile is heard of in one turn
    return PlainTextResponse(str(given))


async def answer(request):
    return PlainTextResponse(await ask_async(client, f"What came first? {given}"))


async def pass_on(request, call_next):
    return await call_next(request)


routes = [Route("/page", show), Route("/files/{name}", give), Route("/ask", answer)]
middleware = [Middleware(BaseHTTPMiddleware, dispatch=pass_on), Middleware(GZipMiddleware)]
uvicorn.run(
    Starlette(routes=routes, middleware=middleware), port=int(sys.argv[1]), loop="asyncio", access_log=False
)
