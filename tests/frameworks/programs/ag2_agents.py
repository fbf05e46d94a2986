"""ag2: agents with tools, two at once, an agent as a tool, a sub-task, a stream of events."""

import asyncio
import json

from ag2 import Agent, TaskConfig
from ag2.config import OpenAIConfig
from ag2.events import ModelMessageChunk


def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


async def distance(city: str) -> dict:
    """The distance to a city in kilometres."""
    return {"city": city, "km": len(city) * 100}


def agent(name, streaming=False, **options):
    config = OpenAIConfig(model="gpt-4.1-mini", streaming=streaming)
    return Agent(name, f"You are {name}.", config=config, **options)


def solo():
    return agent("Solo", tools=[weather, distance])


async def everything():
    replies = await asyncio.gather(solo().ask("Scout Rome."), solo().ask("Scout Oslo."))
    told = [reply.body for reply in replies]
    first = await solo().ask("Scout Rome.")
    told.append((await first.ask("And again?")).body)
    helper = agent("Helper", tools=[weather])
    boss = agent("Boss", tools=[helper.as_tool(description="Helps.", name="helper")])
    reply = await boss.ask("Ask your helper.")
    told.append((reply.body, (await reply.usage()).total.total_tokens))
    chief = agent("Chief", tasks=TaskConfig())
    told.append((await chief.ask("Split it.")).body)
    pieces = []
    async with agent("Streamer", streaming=True).run("Stream it.") as run:

        async def keep(event):
            pieces.append(event.content)

        with run.stream.where(ModelMessageChunk).sub_scope(keep):
            told.append((await run.result()).body)
    return told, pieces


def main():
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
