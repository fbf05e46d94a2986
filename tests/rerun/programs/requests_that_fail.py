"""Servers of several kinds, whose application fails now and then: `requests_that_fail.py uvicorn PORT`."""

import logging
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from common_openai import ask
from openai import OpenAI

client = OpenAI(max_retries=0)


def answer(path):
    if path == "/tea":
        raise ValueError("no tea")
    if path == "/coffee":
        try:
            raise KeyError("no coffee")
        except KeyError:
            logging.exception("there is tea")
    headers = {"x-lctl-fault": "status=400"} if path == "/refused" else {}
    return ask(client, f"question {path}", extra_headers=headers)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        said = answer(self.path.partition("?")[0]).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *args):
        pass


def in_threads(port):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.serve_forever()


def by_wsgiref(port):
    from wsgiref.simple_server import make_server

    def app(environ, start_response):
        said = answer(environ["PATH_INFO"]).encode()
        start_response("200 OK", [])
        return [said]

    server = make_server("127.0.0.1", port, app)  # which goes on after any exception, `SystemExit` too
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()


def by_aiohttp(port):
    from aiohttp import web

    async def asked(request):
        return web.Response(text=answer(request.path))

    app = web.Application()
    app.router.add_get("/{name}", asked)
    web.run_app(app, host="127.0.0.1", port=port, print=None)


def by_uvicorn(port, loop="asyncio"):
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    def asked(request):
        return PlainTextResponse(answer(request.url.path))

    app = Starlette(routes=[Route("/{name}", asked)])
    uvicorn.run(app, host="127.0.0.1", port=port, loop=loop, log_level="error")


def by_uvloop(port):
    by_uvicorn(port, "uvloop")


KINDS = {
    "threads": in_threads,
    "wsgiref": by_wsgiref,
    "aiohttp": by_aiohttp,
    "uvicorn": by_uvicorn,
    "uvloop": by_uvloop,
}
KINDS[sys.argv[1]](int(sys.argv[2]))
