"""The OpenAI Agents SDK: tools, a hand-off, agents in parallel, a stream; the Responses and the chat API."""

import asyncio

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_default_openai_client,
    trace,
)
from openai import AsyncOpenAI


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


@function_tool
async def distance(start: str, end: str) -> int:
    """The distance of two cities in kilometres."""
    return len(start) * 100 + len(end)


writer = Agent(name="Writer", instructions="Write it up.", model="gpt-4.1-mini")
guide = Agent(
    name="Guide",
    instructions="Guide people.",
    tools=[weather, distance],
    handoffs=[writer],
    model="gpt-4.1-mini",
    model_settings=ModelSettings(parallel_tool_calls=True),
)
talker = Agent(
    name="Talker",
    instructions="Talk.",
    tools=[weather, distance],
    model=OpenAIChatCompletionsModel(model="gpt-4.1-mini", openai_client=AsyncOpenAI()),
)


def told(result):
    return result.last_agent.name, result.final_output, [item.type for item in result.new_items]


async def main():
    set_default_openai_client(AsyncOpenAI())  # a client belongs to one loop
    with trace("journey"):
        results = await asyncio.gather(*[Runner.run(guide, "Where is it sunny?") for _ in range(3)])
        print([told(result) for result in results])
        print(told(await Runner.run(talker, "How far is it to Rome?")))
    streamed = Runner.run_streamed(guide, "Stream the weather.")
    async for event in streamed.stream_events():
        if event.type == "raw_response_event":
            print(event.data.type, end=" ")
        else:
            print(event.type)
    print(told(streamed))


print(told(Runner.run_sync(guide, "First, the weather.")))
asyncio.run(main())
