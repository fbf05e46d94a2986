"""A voice agent of OpenAI's Agents SDK, with a tool whose result is chance."""

import asyncio
import hashlib
import os
import random

from agents import function_tool, set_tracing_disabled
from agents.realtime import RealtimeAgent, RealtimeRunner

set_tracing_disabled(True)


@function_tool
def look(city: str) -> str:
    """Look at a city's sky."""
    return f"sunny {random.random()}"


async def main() -> None:
    agent = RealtimeAgent(name="A", instructions="Be brief.", tools=[look])
    url = os.environ["LIVE"].replace("http", "ws") + "/realtime?model=gpt-realtime"
    session = await RealtimeRunner(agent).run(model_config={"api_key": "k", "url": url})
    heard, turns = hashlib.sha256(), 0
    async with session:
        await session.send_message("Hello?")
        async for event in session:
            print(event.type, getattr(getattr(event, "data", None), "type", ""))
            if event.type == "audio":
                heard.update(event.audio.data)
            turns += event.type == "agent_end"
            if turns == 2:
                break
    print(heard.hexdigest())


asyncio.run(main())
