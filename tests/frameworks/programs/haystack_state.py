"""Haystack: tools that change their agent's state, an agent as a tool that streams, a pipeline part by part."""

import asyncio
import json

from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import AgentTool, create_tool_from_function


def remember(fact: str, state: State) -> str:
    """Remember a fact."""
    with open("facts.txt", "a") as file:
        file.write(fact + "\n")
    state.set("facts", [fact])
    state.set("count", (state.get("count") or 0) + 1)
    return f"kept {fact}"


def made(*tools, **more):
    return Agent(chat_generator=OpenAIChatGenerator(model="gpt-4.1"), tools=list(tools), **more)


def keeper():
    schema = {"facts": {"type": list[str]}, "count": {"type": int}}
    return made(create_tool_from_function(remember), state_schema=schema)


def asked(text):
    return {"messages": [ChatMessage.from_user(text)]}


async def part_by_part():
    pipeline = Pipeline()
    pipeline.add_component("keeper", keeper())
    parts = [part async for part in pipeline.run_async_generator({"keeper": asked("Remember it")})]
    return [sorted(parts[-1]), parts[-1]["keeper"]["facts"]]


def main():
    kept = keeper().run(**asked("Remember it"))
    pieces = []
    boss = made(AgentTool(agent=keeper(), name="ask_expert", description="Ask an expert"))
    told = boss.run(**asked("Ask the expert"), streaming_callback=lambda piece: pieces.append(piece.content))
    results = [kept["facts"], kept["count"], kept["messages"][-1].text, told["messages"][-1].text, pieces]
    return [*results, asyncio.run(part_by_part())]


if __name__ == "__main__":
    print(json.dumps(main()))
