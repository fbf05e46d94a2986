"""The OpenAI Agents SDK: a guardrail, an agent as a tool, a tool that fails, a hand-off; sync, async, streamed."""

import asyncio
import json

from agents import (
    Agent,
    GuardrailFunctionOutput,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    input_guardrail,
    set_default_openai_client,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

LOOP = asyncio.new_event_loop()  # a client belongs to one loop, and run_sync takes this one
asyncio.set_event_loop(LOOP)
CLIENT = AsyncOpenAI()
set_default_openai_client(CLIENT)
set_tracing_disabled(True)


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


@input_guardrail
async def polite(context, agent, given):
    return GuardrailFunctionOutput(output_info={}, tripwire_triggered=False)


def team(chat):
    options = {"model": "gpt-4.1-mini"}
    if chat:
        options["model"] = OpenAIChatCompletionsModel("gpt-4.1-mini", CLIENT)
    expert = Agent(name="expert", instructions="Know.", tools=[weather], **options)
    writer = Agent(name="writer", instructions="Write.", **options)
    return Agent(
        name="boss",
        instructions="Lead.",
        tools=[expert.as_tool("ask_expert", "Ask the expert.")],
        handoffs=[writer],
        input_guardrails=[polite],
        **options,
    )


def told(result):
    return [result.last_agent.name, result.final_output, [item.type for item in result.new_items]]


def main():
    results = [told(Runner.run_sync(team(False), "Is it sunny?"))]

    async def run():
        results.append(told(await Runner.run(team(True), "Is it sunny?")))
        streamed = Runner.run_streamed(team(False), "Is it sunny?")
        kinds = [event.type async for event in streamed.stream_events()]
        results.append([told(streamed), kinds])

    LOOP.run_until_complete(run())
    return results


if __name__ == "__main__":
    print(json.dumps(main()))
