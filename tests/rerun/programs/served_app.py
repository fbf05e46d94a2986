"""A server of its own process, asked from outside: each request is answered by an agent."""

import sys

import uvicorn
from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

sync, later = OpenAI(), AsyncOpenAI()
answered = []


async def answer(request):
    name = request.path_params["name"]
    body = (await request.body()).decode()
    said = await ask_async(later, f"question {name} {body}")
    said = await ask_async(later, f"question {name} {body}", said, "go on")
    answered.append(name)
    print("asked by", *request.client, request.headers["user-agent"])
    return JSONResponse({"said": said, "answered": answered})


def in_a_thread(request):
    return JSONResponse({"said": ask(sync, f"question {request.path_params['name']}")})


routes = [Route("/ask/{name}", answer, methods=["GET", "POST"]), Route("/thread/{name}", in_a_thread)]
server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=int(sys.argv[1]), loop=sys.argv[2]))
try:
    server.run()
except KeyboardInterrupt:
    pass
print(answered)
