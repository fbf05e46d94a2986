"""Google's Live: a function that is called, sound both ways."""

import asyncio
import hashlib
import os

from google import genai
from google.genai import types

CONFIG = {"system_instruction": "Be brief.", "response_modalities": ["AUDIO"]}


async def main() -> None:
    client = genai.Client(api_key="k")
    # It knows no address without TLS.
    client._api_client._websocket_base_url = lambda http_options=None: os.environ["LIVE"].replace(
        "http", "ws"
    )
    client._api_client._websocket_ssl_ctx = {}
    async with client.aio.live.connect(model="gemini-live", config=CONFIG) as live:
        await live.send_client_content(turns={"role": "user", "parts": [{"text": "Rome?"}]})
        heard = hashlib.sha256()
        async for got in live.receive():
            if got.tool_call:
                given = types.FunctionResponse(id="c1", name="weather", response={"sky": "sunny"})
                await live.send_tool_response(function_responses=[given])
            heard.update(got.data or b"")
        print(heard.hexdigest())
        await live.send_realtime_input(audio=types.Blob(data=b"\0\1" * 300, mime_type="audio/pcm"))
        async for got in live.receive():
            if got.server_content and got.server_content.model_turn:
                print(got.server_content.model_turn.parts[0].text)
            if got.server_content and got.server_content.interrupted:
                break


asyncio.run(main())
