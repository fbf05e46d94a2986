"""Servers of several kinds that hand on what a model says, piece by piece: `streams_to_clients.py uvicorn PORT`."""

import signal
import sys
from contextlib import aclosing

from common_openai import MODEL, say
from openai import AsyncOpenAI, OpenAI


def question(name):
    return {"model": MODEL, "messages": say(f"tell {name}"), "stream": True}


def text(chunk):
    return chunk.choices[0].delta.content if chunk.choices else None


async def pieces(name):
    given = 0
    try:
        async with await AsyncOpenAI().chat.completions.create(**question(name)) as answer:
            async for chunk in answer:
                if said := text(chunk):
                    given += 1
                    yield f"data: {said}\n\n"
    finally:
        print(name, "gave", given, flush=True)


def pieces_in_a_thread(name):
    given = 0
    try:
        for chunk in OpenAI().chat.completions.create(**question(name)):
            if said := text(chunk):
                given += 1
                yield f"data: {said}\n\n"
    finally:
        print(name, "gave", given, flush=True)


def by_uvicorn(port, loop="asyncio"):
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    async def tell(request):
        return StreamingResponse(pieces(request.path_params["name"]), media_type="text/event-stream")

    app = Starlette(routes=[Route("/{name}", tell)])
    uvicorn.run(app, host="127.0.0.1", port=port, loop=loop, log_level="error")


def by_uvloop(port):
    by_uvicorn(port, "uvloop")


def by_aiohttp(port):
    from aiohttp import web

    async def tell(request):
        response = web.StreamResponse()
        await response.prepare(request)
        async with aclosing(pieces(request.match_info["name"])) as given:  # else the collector closes it
            async for piece in given:
                await response.write(piece.encode())
        return response

    app = web.Application()
    app.router.add_get("/{name}", tell)
    web.run_app(app, host="127.0.0.1", port=port, print=None)


def in_threads(port):
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            given = pieces_in_a_thread(self.path.strip("/"))
            try:
                for piece in given:
                    self.wfile.write(piece.encode())
            except ConnectionError as error:
                print(self.path, error)
            given.close()

        def log_message(self, *args):
            pass

    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


KINDS = {"uvicorn": by_uvicorn, "uvloop": by_uvloop, "aiohttp": by_aiohttp, "threads": in_threads}
KINDS[sys.argv[1]](int(sys.argv[2]))
