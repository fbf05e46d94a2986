"""ag2: tools that ask a human, send events, put messages into the inbox, change variables and dependencies; tools
that are left to the client who asked the agent, and a call that is no JSON."""

import asyncio
import json
from typing import Annotated

from ag2 import Agent, Context, Inject, MemoryStream, Variable, tool
from ag2.config import OpenAIConfig
from ag2.events import BaseEvent, Field, HumanMessage
from ag2.middleware import HistoryLimiter
from ag2.tools.final import ClientTool

ASKED, LOOKED = [], []


class Looking(BaseEvent):
    city: str = Field(kw_only=False)
    seen: list = Field(default_factory=list)


class Db:
    def __init__(self):
        self.rows = []
        self.connection = asyncio.Queue()


@tool(name="weather")
async def weather(
    city: str,
    ctx: Context,
    db: Annotated[Db, Inject("db")],
    counts: Annotated[dict, Variable("counts", default_factory=dict)],
) -> str:
    """The weather in a city."""
    LOOKED.append(city)
    db.rows.append(city)
    db.connection = asyncio.Queue()  # what no recording can keep
    counts[city] = counts.get(city, 0) + 1
    await ctx.send(Looking(city))
    if city == "Atlantis":
        ctx.enqueue("There is no Atlantis.")
        raise LookupError("no such city")
    return await ctx.input(f"{city}?")


async def around(call_next, event, context):
    """A middleware of the tool's own."""
    return await call_next(event, context)


def human(event):
    ASKED.append(event.content)
    return "sunny"


async def everything():
    db, stream, heard = Db(), MemoryStream(), []

    @stream.where(Looking | HumanMessage).subscribe
    async def hear(event):
        heard.append(event.city if isinstance(event, Looking) else event.content)

    @stream.where(Looking).subscribe
    async def pass_on(event, ctx: Context):
        if not event.seen:
            await ctx.send(Looking(event.city, seen=["passed on"]))

    agent = Agent(
        "guide",
        "You guide.",
        config=OpenAIConfig(model="gpt-4.1-mini"),
        tools=[weather.with_middleware(around)],
        dependencies={"db": db},
        hitl_hook=human,
        middleware=[HistoryLimiter(max_events=12)],
    )
    reply = await agent.ask("Weather?", stream=stream)
    told = [reply.body, db.rows, LOOKED, reply.context.variables, heard[:]]
    told.append((await reply.ask("And now?")).body)
    events = list(await stream.history.get_events())
    told.append([type(event).__name__ for event in events])
    told.append([event.seen for event in events if isinstance(event, Looking)])
    told.append(await left_to_the_client())
    return told


async def left_to_the_client():
    """The turn ends with the call; its result comes from outside."""
    function = {"name": "photograph", "description": "Of a city.", "parameters": {"type": "object"}}
    agent = Agent(
        "reporter",
        "You report.",
        config=OpenAIConfig(model="gpt-4.1-mini"),
        tools=[weather, ClientTool({"type": "function", "function": function})],
        dependencies={"db": Db()},
    )
    try:
        await agent.ask("Garble it.")
    except json.JSONDecodeError as error:  # ag2 cannot put the call into its next request
        garbled = str(error)
    reply = await agent.ask("Photograph it.")
    events = [type(event).__name__ for event in await reply.history.get_events()]
    return [garbled, reply.body, [call.name for call in reply.response.tool_calls.calls], events]


def main():
    ASKED.clear()
    LOOKED.clear()
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
