"""A server that is asked by who knows HTTP too well: what came of each request, and what a model says."""

import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI


def told(path, body):
    print(path, repr(body), flush=True)
    return f"question {path} {body!r}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = b""
        if "transfer-encoding" in self.headers:
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["content-length"]))
        said = ask(client, told(self.path, body)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *args):
        pass

    def handle(self):
        try:
            super().handle()
        except BrokenPipeError:
            pass


def in_threads(port):
    global client
    client = OpenAI()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.serve_forever()


def by_aiohttp(port):
    from aiohttp import web

    async def answer(request):
        try:
            body = await request.read()
        except ConnectionResetError:
            print(request.path, "is gone", flush=True)
            raise
        return web.Response(text=await ask_async(later, told(request.path, body)))

    later = AsyncOpenAI()
    app = web.Application()
    app.router.add_post("/{name}", answer)
    web.run_app(app, host="127.0.0.1", port=port, print=None)


def by_uvicorn(port):
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect
    from starlette.responses import Response
    from starlette.routing import Route

    async def answer(request):
        try:
            body = await request.body()
        except ClientDisconnect:
            print(request.url.path, "is gone", flush=True)
            raise
        return Response(await ask_async(later, told(request.url.path, body)))

    later = AsyncOpenAI()
    app = Starlette(routes=[Route("/{name}", answer, methods=["POST"])])
    uvicorn.run(app, port=port, loop="uvloop", log_level="critical")


{"threads": in_threads, "aiohttp": by_aiohttp, "uvloop": by_uvicorn}[sys.argv[1]](int(sys.argv[2]))
