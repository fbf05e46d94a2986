"""LangChain and LangGraph: streams of agents with tools, followed by calls in threads; events of tools."""

import asyncio

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    if city == "Atlantis":
        return "no such city"
    return f"sunny in {city}"


@tool("weather")
async def forecast(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def made(name, *tools):
    return create_agent(ChatOpenAI(model="gpt-4.1"), list(tools), name=name)


def asked(text):
    return {"messages": [("user", text)]}


pieces = [
    str(piece.content)
    for piece, _ in made("streamer", weather).stream(asked("Weather?"), stream_mode="messages")
]
print(sorted(pieces))
for piece, _ in made("early").stream(asked("Tell me a story"), stream_mode="messages"):
    print(piece.content)
    break
# Pool jobs are told apart by how many were started before, and a stream starts as many as it has to wait.
print([answer.content for answer in ChatOpenAI(model="gpt-4.1").batch(["one", "two", "three"])])


async def main():
    heard = [
        event["event"]
        async for event in made("eventer", forecast).astream_events(asked("Weather?"), version="v2")
    ]
    print(heard.count("on_tool_start"), heard.count("on_tool_end"))


asyncio.run(main())
