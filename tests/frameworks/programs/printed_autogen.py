"""AutoGen: messages and results printed whole, as its documents do."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_agentchat.ui import Console
from autogen_ext.models.openai import OpenAIChatCompletionClient

client = OpenAIChatCompletionClient(model="gpt-4.1")


async def turn(text: str) -> str:
    """Turn a text round."""
    return text[::-1]


async def main():
    one, two = AssistantAgent("one", client, tools=[turn]), AssistantAgent("two", client)
    async for message in one.run_stream(task="use the tool"):
        print(message)
    team = RoundRobinGroupChat([one, two], termination_condition=MaxMessageTermination(4))
    async for message in team.run_stream(task="talk"):
        print(message)
    await team.reset()
    await Console(team.run_stream(task="again"), output_stats=True)
    print(await asyncio.gather(*[AssistantAgent(f"p{n}", client).run(task=f"part {n}") for n in range(3)]))


asyncio.run(main())
