"""Servers in the program's process, asked several things at once, by threads that share connections, too.

Each request is answered by an agent of several calls; a tool asks the server as well.
"""

import asyncio
import json
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import requests
from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI

import lctl

sync = OpenAI()
answered = []


def note(name):
    if name != "tool":  # whose body, and what it asks for, does not run again
        answered.append(name)


def agent(name):
    said = ask(sync, f"question {name}")
    said = ask(sync, f"question {name}", said, "go on")
    note(name)
    return json.dumps({"said": said}).encode()


async def agent_async(client, name):
    said = await ask_async(client, f"question {name}")
    said = await ask_async(client, f"question {name}", said, "go on")
    note(name)
    return json.dumps({"said": said}).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        said = agent(self.path.rpartition("/")[2])
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 64


def in_threads():
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever).start()

    def stop():
        server.shutdown()
        server.server_close()

    return server.server_port, stop


def by_aiohttp():
    from aiohttp import web

    async def answer(request):
        return web.Response(body=await agent_async(client, request.match_info["name"]))

    async def serve():
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ready.set_result((runner.addresses[0][1], asyncio.get_running_loop(), done := asyncio.Event()))
        await done.wait()
        await runner.cleanup()

    client = AsyncOpenAI()
    app = web.Application()
    app.add_routes([web.get("/ask/{name}", answer)])
    ready = Future()
    return in_loop(serve, ready)


def by_uvicorn(loop):
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    async def answer(request):
        return Response(await agent_async(client, request.path_params["name"]))

    class Ready(uvicorn.Server):
        async def startup(self, sockets=None):
            await super().startup(sockets)
            ready.set()

    client, ready = AsyncOpenAI(), threading.Event()
    app = Starlette(routes=[Route("/ask/{name}", answer)])
    server = Ready(uvicorn.Config(app, port=0, log_level="warning", loop=loop))
    thread = threading.Thread(target=server.run)
    thread.start()
    ready.wait()

    def stop():
        server.should_exit = True
        thread.join()

    return server.servers[0].sockets[0].getsockname()[1], stop


def in_loop(serve, ready):
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    port, loop, done = ready.result()

    def stop():
        loop.call_soon_threadsafe(done.set)
        thread.join()

    return port, stop


async def at_once(url):
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        return [one.json() for one in await asyncio.gather(*[http.get(f"/ask/a{n}") for n in range(4)])]


def main(kind):
    port, stop = {"threads": in_threads, "aiohttp": by_aiohttp}.get(kind, lambda: by_uvicorn(kind))()
    url = f"http://127.0.0.1:{port}"

    @lctl.tool
    def look_up(name: str) -> str:
        return requests.get(f"{url}/ask/{name}").json()["said"]

    with ThreadPoolExecutor(4) as pool:
        print(*pool.map(lambda n: requests.get(f"{url}/ask/r{n}").json(), range(4)))
        print(look_up("tool"))
        with httpx.Client(base_url=url, timeout=60) as http:
            print(*pool.map(lambda n: http.get(f"/ask/p{n % 5}").json(), range(8)))
    print(asyncio.run(at_once(url)))
    stop()
    print(answered)


main(sys.argv[1])
