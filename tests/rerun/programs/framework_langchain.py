"""LangChain: an agent with tools, models in parallel, structured output, streams; sync and async."""

import asyncio

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class City(BaseModel):
    """A city."""

    name: str
    people: int


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


@tool
def distance(start: str, end: str) -> int:
    """The distance of two cities in kilometres."""
    return len(start) * 100 + len(end)


model = ChatOpenAI(model="gpt-4.1-mini")
agent = create_agent(model, [weather, distance], system_prompt="Be short.", name="traveller")


def told(state):
    return [(m.type, m.content, getattr(m, "tool_calls", None)) for m in state["messages"]]


def ask(text):
    return {"messages": [{"role": "user", "content": text}]}


print(told(agent.invoke(ask("Where is it sunny?"))))
print([m.content for m in model.batch([f"Tell of river {n}" for n in range(4)])])
print(model.with_structured_output(City).invoke("Name a city."))
for step in agent.stream(ask("How far is it to Rome?"), stream_mode="updates"):
    print(sorted(step), [told(state) for state in step.values()])


async def main():
    answers = await asyncio.gather(*[agent.ainvoke(ask("Sunny anywhere?")) for _ in range(3)])
    print([told(answer) for answer in answers])
    print([m.content for m in await model.abatch(["The same"] * 4)])
    async for chunk in model.astream("Stream it"):
        print(chunk.content, end="|")
    print()


asyncio.run(main())
