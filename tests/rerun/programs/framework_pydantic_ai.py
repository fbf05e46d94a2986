"""Pydantic AI: tools, structured output, agents in parallel, a stream; OpenAI and Anthropic; sync and async."""

import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent


class City(BaseModel):
    name: str
    people: int


agent = Agent("openai-chat:gpt-4.1-mini", system_prompt="Be short.")
responses = Agent("openai-responses:gpt-4.1-mini", instructions="Be short.", output_type=City)
claude = Agent("anthropic:claude-sonnet-4-5", instructions="Be short.")


def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


async def distance(start: str, end: str) -> int:
    """The distance of two cities in kilometres."""
    return len(start) * 100 + len(end)


for one in (agent, claude):
    one.tool_plain(weather)
    one.tool_plain(distance)


def told(result):
    return result.output, [part.part_kind for m in result.all_messages() for part in m.parts]


print(told(agent.run_sync("Where is it sunny?")))
print(told(responses.run_sync("Name a city.")))
print(told(claude.run_sync("How far is it to Rome?")))


async def main():
    answers = await asyncio.gather(*[one.run("Sunny anywhere?") for one in (agent, claude, agent, claude)])
    print([told(answer) for answer in answers])
    async with agent.run_stream("Stream the weather.") as result:
        async for text in result.stream_text(delta=True, debounce_by=None):
            print(text, end="|")
        print([part.part_kind for m in result.all_messages() for part in m.parts])


asyncio.run(main())
