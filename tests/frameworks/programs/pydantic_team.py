"""Pydantic AI: delegation, a tool that asks to be called again, approval, structured output, a stream, a fake."""

import asyncio
import json

from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext
from pydantic_ai.models.test import TestModel


class City(BaseModel):
    name: str
    people: int


def team():
    expert = Agent("openai-chat:gpt-4.1-mini", name="expert")

    @expert.tool_plain
    def weather(city: str) -> str:
        """The weather of a city."""
        if city == "Atlantis":
            raise ModelRetry("no such city")
        return f"Sunny in {city}."

    boss = Agent("openai-chat:gpt-4.1-mini", name="boss")

    @boss.tool
    async def ask_expert(context: RunContext, question: str) -> str:
        """Ask the expert."""
        return (await expert.run(question, usage=context.usage)).output

    pilot = Agent("openai-chat:gpt-4.1-mini", name="pilot", output_type=[str, DeferredToolRequests])

    @pilot.tool_plain(requires_approval=True)
    def launch(rocket: str) -> str:
        """Launch a rocket; somebody has to agree."""
        return f"{rocket} launched"

    namer = Agent("openai-chat:gpt-4.1-mini", name="namer", output_type=City)
    return boss, pilot, namer


def told(result):
    return [result.output, [part.part_kind for m in result.all_messages() for part in m.parts]]


def main():
    boss, pilot, namer = team()
    results = [told(boss.run_sync("Is it sunny?")), namer.run_sync("Name a city.").output.model_dump()]
    paused = pilot.run_sync("Launch it")
    decided = DeferredToolResults(approvals={one.tool_call_id: True for one in paused.output.approvals})
    going_on = {"message_history": paused.all_messages(), "deferred_tool_results": decided}
    results.append(told(pilot.run_sync(**going_on)))
    results.append(Agent(TestModel(custom_output_text="fake"), name="tester").run_sync("Fake?").output)

    async def run():
        results.append(told(await boss.run("Is it sunny?")))
        async with boss.run_stream("Is it sunny?") as streamed:
            results.append([text async for text in streamed.stream_text(debounce_by=None)][-1])

    asyncio.run(run())
    return results


if __name__ == "__main__":
    print(json.dumps(main()))
