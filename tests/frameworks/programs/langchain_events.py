"""LangChain: events that tools dispatch to callbacks, and what tools that are objects keep in themselves."""

import asyncio

from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.callbacks import BaseCallbackHandler, adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr


class Ear(BaseCallbackHandler):
    """Hears of events as they are dispatched; of whose they are, whether a tool's."""

    def __init__(self):
        self.tools = set()

    def on_tool_start(self, serialized, input_str, *, run_id, **more):
        self.tools.add(run_id)

    def on_custom_event(self, name, data, *, run_id, **more):
        print("heard", name, data, run_id in self.tools)


@tool
def look(city: str) -> str:
    """Look at a city."""
    seen = {"city": city, "part": 0}
    for part in range(2):
        seen["part"] = part
        dispatch_custom_event("looking", seen)
    dispatch_custom_event("unkept", {"lock": asyncio.Lock})
    return f"sunny in {city}"


@tool("weather")
def weather(city: str, runtime: ToolRuntime) -> str:
    """The weather in a city."""
    dispatch_custom_event("around", {"city": city}, config=runtime.config)
    return look.invoke({"city": city})


@tool("weather")
async def forecast(city: str) -> str:
    """The weather in a city."""
    await adispatch_custom_event("napping", {"city": city})
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"sunny in {city}"


class Tally(BaseTool):
    """What it has told, in its attributes."""

    name: str = "weather"
    description: str = "The weather in a city."
    runs: int = 0
    _told: list = PrivateAttr(default_factory=list)

    def _run(self, city: str) -> str:
        self.runs += 1
        self._told.append(city)
        return f"sunny in {city}, {self.runs}"


class LateTally(Tally):
    async def _arun(self, city: str) -> str:
        self.runs += 10
        self._told.append(["late", city])
        return f"sunny in {city}, {self.runs}"


def made(*tools):
    return create_agent(ChatOpenAI(model="gpt-4.1"), list(tools), name="guide")


LOOP = asyncio.new_event_loop()  # langchain-openai keeps its client for as long as the process lives
ASKED = {"messages": [("user", "Weather?")]}


async def main():
    async for event in made(forecast).astream_events(ASKED, version="v2"):
        if event["event"] == "on_custom_event":
            print(event["name"], event["data"])


def sequential(agent):
    agent.invoke(ASKED, {"callbacks": [Ear()], "max_concurrency": 1})


sequential(made(weather))
print(look.invoke({"city": "Oslo"}, RunnableConfig(callbacks=[Ear()])))
try:
    LOOP.run_until_complete(main())
except LookupError as error:
    print(error)
tally, late = Tally(), LateTally()
made(tally).invoke(ASKED, {"max_concurrency": 1})
print(tally.runs, tally._told)
LOOP.run_until_complete(made(tally).ainvoke(ASKED, {"max_concurrency": 1}))
LOOP.run_until_complete(made(late).ainvoke(ASKED, {"max_concurrency": 1}))
made(late).invoke(ASKED, {"max_concurrency": 1})
print(tally.runs, tally._told, late.runs, late._told)
