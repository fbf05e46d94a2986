"""Agent Framework: tools of both kinds, streams, an agent as a tool, several at once."""

import asyncio
import json

from agent_framework import Agent, tool
from agent_framework.openai import OpenAIChatCompletionClient


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    if city == "Atlantis":
        raise ValueError("no such city")
    return f"sunny in {city}"


@tool
async def distance(city: str) -> dict:
    """The distance to a city."""
    await asyncio.sleep(0.01)
    return {"km": len(city) * 100}


def made(name, *tools):
    client = OpenAIChatCompletionClient(model="gpt-4.1")
    return Agent(
        client=client, name=name, description=name, instructions=f"You are {name}.", tools=list(tools)
    )


async def everything():
    scout = made("Scout", weather, distance)
    results = [(await scout.run("Weather?")).text]
    results.append("".join([update.text async for update in scout.run("Weather in pieces?", stream=True)]))
    results.append((await made("Piecemeal", weather).run("Weather?", stream=True).get_final_response()).text)
    boss = made(
        "Boss", made("Expert", weather).as_tool(name="ask_expert", description="Ask.", arg_name="question")
    )
    results.append((await boss.run("Ask the expert")).text)
    both = await asyncio.gather(*(made(name, distance).run("How far?") for name in ("Left", "Right")))
    return [*results, *(one.text for one in both)]


def main():
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
