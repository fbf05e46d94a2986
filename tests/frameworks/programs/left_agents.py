"""Strands, Semantic Kernel, Agno and Agent Framework: agents whose streams nobody reads to their end."""

import asyncio

from agent_framework import Agent as FrameworkAgent
from agent_framework.openai import OpenAIChatCompletionClient
from agno.agent import Agent as AgnoAgent
from agno.models.openai import OpenAIChat
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from strands import Agent as StrandsAgent
from strands.models.openai import OpenAIModel

ASKED = "Tell me a story"


async def first(text, asked, *args, **kwargs):
    async for piece in asked(*args, **kwargs):
        if text(piece):
            print(text(piece))
            break
    await asyncio.sleep(0.1)  # what is left is closed meanwhile


strands = StrandsAgent(name="strands", model=OpenAIModel(model_id="gpt-4.1"), callback_handler=None)
kernel = ChatCompletionAgent(name="kernel", service=OpenAIChatCompletion(ai_model_id="gpt-4.1"))
agno = AgnoAgent(name="agno", model=OpenAIChat(id="gpt-4.1"), telemetry=False)
framework = FrameworkAgent(client=OpenAIChatCompletionClient(model="gpt-4.1"), name="framework")
asyncio.run(first(lambda event: event.get("data"), strands.stream_async, ASKED))
asyncio.run(first(str, kernel.invoke_stream, messages=ASKED))
asyncio.run(first(lambda event: event.content, agno.arun, ASKED, stream=True))
asyncio.run(first(lambda piece: piece.text, framework.run, ASKED, stream=True))
