"""Over aiohttp's WebSockets: text, JSON and bytes, an end of each side's, a handshake that is refused."""

import asyncio
import os

import aiohttp

URL = os.environ["LIVE"]


async def main() -> None:
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(f"{URL}/realtime", params={"model": "m"}) as live:
            await live.send_json({"type": "response.create"})
            async for message in live:
                print(message.type.name, message.data if message.type.name == "TEXT" else message.data.hex())
                if message.type.name == "BINARY":
                    break
        print(live.closed, live.close_code)
        async with session.ws_connect(f"{URL}/realtime?bye") as live:
            await live.send_bytes(b"x" * 100)
            print([message.data async for message in live], live.close_code, live.closed)
            print(await live.receive())
        async with session.ws_connect(f"{URL}/realtime?slow") as live:
            try:
                await live.receive(timeout=0.1)
            except TimeoutError as error:
                print(repr(error))
        try:
            await session.ws_connect(f"{URL}/realtime?refused")
        except aiohttp.WSServerHandshakeError as error:
            print(error.status, error)


asyncio.run(main())
