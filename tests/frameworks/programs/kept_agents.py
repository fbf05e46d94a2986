"""OpenAI Agents SDK: a conversation that it keeps in a database from run to run."""

import asyncio

from agents import Agent, OpenAIChatCompletionsModel, Runner, SQLiteSession, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
agent = Agent("Ann", model=OpenAIChatCompletionsModel("gpt-4.1-mini", AsyncOpenAI()))


async def main() -> None:
    session = SQLiteSession("me", "kept.db")
    for text in ("hello", "again"):
        print((await Runner.run(agent, text, session=session)).final_output)
    print(len(await session.get_items()))


asyncio.run(main())
