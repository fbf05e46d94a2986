"""Servers in the program's process, asked over sockets: of the standard library in threads, and of uvicorn."""

import asyncio
import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import requests
import uvicorn
from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import JSONResponse
from starlette.routing import Route

sync = OpenAI()
later = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = json.dumps({"said": ask(sync, asked["question"])}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *args):
        pass


def note(name):
    later.append(ask(sync, f"note {name}"))


async def answer(request):
    name = request.path_params["name"]
    said = await ask_async(AsyncOpenAI(), f"question {name}")
    return JSONResponse({"said": said}, background=BackgroundTask(note, name))


class Server(uvicorn.Server):
    def __init__(self, config):
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.ready.set()


def in_threads():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://localhost:{server.server_port}/ask"
        for text in ("first", "second"):
            asked = urllib.request.Request(url, json.dumps({"question": text}).encode())
            print(json.load(urllib.request.urlopen(asked)))
            print(requests.post(url, json={"question": f"{text} again"}).json())
        server.shutdown()


async def ask_all(url):
    async with httpx.AsyncClient(base_url=url) as http:
        for each in await asyncio.gather(*[http.get(f"/ask/{n}") for n in range(3)]):
            print(each.json())


def by_uvicorn():
    app = Starlette(routes=[Route("/ask/{name}", answer)])
    server = Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    server.ready.wait()
    port = server.servers[0].sockets[0].getsockname()[1]
    asyncio.run(ask_all(f"http://127.0.0.1:{port}"))
    server.should_exit = True
    thread.join()
    print(sorted(later))


in_threads()
by_uvicorn()
