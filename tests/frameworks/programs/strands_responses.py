"""Strands on the Responses API, whose streams it leaves at their last event: sync, streamed, several at once. And on Google,
whose calls Strands gives ids of its own."""

import asyncio
import json

from strands import Agent, tool
from strands.models.gemini import GeminiModel
from strands.models.openai_responses import OpenAIResponsesModel


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


def made(name, model=None):
    model = model or OpenAIResponsesModel(model_id="gpt-4.1-mini")
    return Agent(name=name, model=model, tools=[weather], callback_handler=None)


async def at_once():
    pieces = [event["data"] async for event in made("Streamer").stream_async("Scout.") if "data" in event]
    both = await asyncio.gather(*[made(name).invoke_async("Scout.") for name in ("Left", "Right")])
    return ["".join(pieces), *map(str, both)]


def main():
    google = made("Google", GeminiModel(model_id="gemini-2.5-flash"))
    return [str(made("Solo")("Scout.")), str(google("Scout.")), asyncio.run(at_once())]


if __name__ == "__main__":
    print(json.dumps(main()))
