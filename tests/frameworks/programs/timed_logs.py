"""Frameworks that log how long a function took, into standard output; by the framework that `FRAMEWORK` names."""

import asyncio
import logging
import os
import sys


def look(place: str) -> str:
    """Look at a place.

    Args:
        place: which
    """
    print("looking at", place)
    return place.upper()


async def semantic_kernel():
    from semantic_kernel.agents import ChatCompletionAgent
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
    from semantic_kernel.functions import kernel_function

    class Eyes:
        look = staticmethod(kernel_function(look))

    service = OpenAIChatCompletion(ai_model_id="gpt-4.1-mini")
    agent = ChatCompletionAgent(service=service, name="Scout", plugins=[Eyes()])
    return str(await agent.get_response(messages="Look there."))


async def agent_framework():
    from agent_framework import Agent
    from agent_framework.openai import OpenAIChatClient

    agent = Agent(client=OpenAIChatClient(model="gpt-4.1-mini"), instructions="Look.", tools=[look])
    return (await agent.run("Look there.")).text


if __name__ == "__main__":
    logging.basicConfig(
        level=logging.INFO, stream=sys.stdout, format="%(created)f %(asctime)s %(name)s %(message)s"
    )
    print(asyncio.run(globals()[os.environ["FRAMEWORK"]]()))
