"""aiohttp's server and client in one program: a websocket, and events that the server streams."""

import asyncio
import json

import aiohttp
from aiohttp import web
from common_openai import MODEL, ask_async, say
from openai import AsyncOpenAI

client = AsyncOpenAI()


async def talk(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(await ask_async(client, message.data))
    return socket


async def stream(request):
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    chunks = await client.chat.completions.create(model=MODEL, messages=say("Tell."), stream=True)
    async for chunk in chunks:
        if chunk.choices and chunk.choices[0].delta.content:
            await response.write(f"data: {json.dumps(chunk.choices[0].delta.content)}\n\n".encode())
    await response.write_eof()
    return response


async def main():
    app = web.Application()
    app.add_routes([web.get("/talk", talk), web.get("/stream", stream)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with aiohttp.ClientSession() as session:
        for address in (f"{url}/talk", f"{url.replace('http', 'ws')}/talk"):
            async with session.ws_connect(address) as socket:
                for n in range(2):
                    await socket.send_str(f"Question {n}")
                    print(await socket.receive_str())
        async with session.get(f"{url}/stream") as response:
            print([json.loads(line[6:]) async for line in response.content if line.strip()])
    await runner.cleanup()


asyncio.run(main())
