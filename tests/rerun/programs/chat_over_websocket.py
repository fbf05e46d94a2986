"""Servers that somebody outside talks to over WebSockets: each message is answered by a model, in pieces.

Arguments: the port, and aiohttp or uvicorn's implementation of WebSockets and loop.
"""

import sys

from openai import AsyncOpenAI

client = AsyncOpenAI()
port, server, *loop = sys.argv[1:]


async def answer(history, send):
    if history[-1]["content"].startswith("key "):
        history.pop()
        await send("well")
        return
    stream = await client.chat.completions.create(model="gpt-4o-mini", messages=history, stream=True)
    said = ""
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            said += chunk.choices[0].delta.content
            await send(chunk.choices[0].delta.content)
    await send("[end]")
    print("answered", history[-1]["content"], "by", said)
    history.append({"role": "assistant", "content": said})


def serve_uvicorn():
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute
    from starlette.websockets import WebSocketDisconnect

    async def chat(socket):
        await socket.accept()
        print("opened by", *socket.client, socket.headers.get("sec-websocket-extensions"))
        history = []
        try:
            while True:
                came = await socket.receive()
                if came["type"] == "websocket.disconnect":
                    raise WebSocketDisconnect(came["code"])
                if came.get("bytes") is not None:
                    await socket.send_text(f"{len(came['bytes'])} bytes")
                    continue
                history.append({"role": "user", "content": came["text"]})
                await answer(history, socket.send_text)
        except WebSocketDisconnect as gone:
            print("gone", gone.code)

    app = Starlette(routes=[WebSocketRoute("/chat", chat)])
    uvicorn.run(app, port=int(port), log_level="warning", ws=server, loop=loop[0])


def serve_aiohttp():
    from aiohttp import WSMsgType, web

    async def chat(request):
        socket = web.WebSocketResponse(heartbeat=20)
        await socket.prepare(request)
        print("opened by", request.remote)
        history = []
        there.add(socket)
        async for came in socket:
            if came.type == WSMsgType.BINARY:
                await socket.send_str(f"{len(came.data)} bytes")
            elif came.type == WSMsgType.TEXT:
                history.append({"role": "user", "content": came.data})
                await answer(history, socket.send_str)
        there.discard(socket)
        print("gone", socket.close_code)
        return socket

    async def close(_):
        for socket in list(there):
            await socket.close(code=1001, message=b"bye")

    there = set()
    app = web.Application()
    app.on_shutdown.append(close)
    app.router.add_get("/chat", chat)
    web.run_app(app, port=int(port), print=None)


serve_aiohttp() if server == "aiohttp" else serve_uvicorn()
