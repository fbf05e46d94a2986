"""A voice agent with OpenAI's Realtime: one task sends sound, another one reads, and a function is called."""

import asyncio
import base64
import hashlib
import os

from openai import AsyncOpenAI

SOUND = [base64.b64encode(bytes([n]) * 900).decode() for n in range(4)]


async def main() -> None:
    client = AsyncOpenAI(api_key="k", base_url=os.environ["LIVE"])
    async with client.realtime.connect(model="gpt-realtime") as live:
        heard, spoken, done = hashlib.sha256(), "", asyncio.Event()

        async def speak() -> None:
            for sound in SOUND:
                await live.input_audio_buffer.append(audio=sound)
                await asyncio.sleep(0.01)
            await live.response.create()

        speaking = asyncio.create_task(speak())
        async for event in live:
            if event.type == "response.output_audio.delta":
                heard.update(base64.b64decode(event.delta))
            elif event.type == "response.output_audio_transcript.delta":
                spoken += event.delta
            elif event.type == "response.done":
                call = event.response.output[0]
                if call.type != "function_call":
                    break
                given = {"type": "function_call_output", "call_id": call.call_id, "output": spoken[-4:]}
                await live.conversation.item.create(item=given)
                await live.response.create()
        done.set()
        await speaking
        print(spoken, heard.hexdigest())


asyncio.run(main())
