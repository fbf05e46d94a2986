"""Haystack: agents sync, async and streamed, a tool that fails, a pipeline, two at once."""

import asyncio
import json

from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    if city == "Atlantis":
        raise ValueError("no such city")
    return f"sunny in {city}"


def asked(text):
    return {"messages": [ChatMessage.from_user(text)]}


def said(answer):
    return answer["messages"][-1].text


def made(**options):
    return Agent(chat_generator=OpenAIChatGenerator(model="gpt-4.1"), tools=[weather], **options)


async def at_once():
    both = await asyncio.gather(
        *(made().run_async(**asked(f"Weather {side}?")) for side in ("left", "right"))
    )
    pieces = []

    async def keep(chunk):
        pieces.append(chunk.content)

    return [
        *map(said, both),
        said(await made(streaming_callback=keep).run_async(**asked("Weather?"))),
        "".join(pieces),
    ]


def main():
    pieces = []
    results = [said(made().run(**asked("Weather?")))]
    results.append(
        said(made(streaming_callback=lambda chunk: pieces.append(chunk.content)).run(**asked("Pieces?")))
    )
    pipeline = Pipeline()
    pipeline.add_component("prompt", ChatPromptBuilder(template=[ChatMessage.from_user("Say {{word}}")]))
    pipeline.add_component("model", OpenAIChatGenerator(model="gpt-4.1"))
    pipeline.connect("prompt.prompt", "model.messages")
    results.append(pipeline.run({"prompt": {"word": "hello"}})["model"]["replies"][0].text)
    return [*results, "".join(pieces), *asyncio.run(at_once())]


if __name__ == "__main__":
    print(json.dumps(main()))
