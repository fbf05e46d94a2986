"""anthropic's tool runners: whole and streamed, sync and async, tools that print, that fail, and two at once."""

import asyncio
import json
import logging
import random

from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool

logging.getLogger("anthropic").setLevel(logging.CRITICAL)  # where a tool has failed
ASK = {"model": "claude-sonnet-4-5", "max_tokens": 300}


@beta_tool
def weather(city: str, unit: str = "c") -> str:
    """The weather in a city.

    Args:
        city: where
        unit: c or f
    """
    with open("asked.txt", "a") as file:
        file.write(city + "\n")
    print("looking at", city)
    if city == "Atlantis":
        raise ValueError("no such city")
    return f"sunny in {city}, {len(city)} {unit}"


@beta_async_tool
async def dice(sides: int) -> str:
    """Throw dice."""
    await asyncio.sleep(0.001)
    return f"one of {sides}: {'yes' if random.randint(1, sides) <= sides else 'no'}"


def asked(question):
    return {**ASK, "messages": [{"role": "user", "content": question}]}


def at_once(client):
    runner = client.beta.messages.tool_runner(tools=[weather], **asked("The weather?"))
    yield [message.stop_reason for message in runner]
    yield client.beta.messages.tool_runner(tools=[weather], **asked("And?")).until_done().content[0].text
    streamed = client.beta.messages.tool_runner(tools=[weather], stream=True, **asked("Slowly?"))
    yield ["".join(event.text for event in stream if event.type == "text") for stream in streamed]


async def threw(client, name):
    runner = client.beta.messages.tool_runner(tools=[dice], **asked(f"Throw for {name}"))
    return (await runner.until_done()).content[0].text


async def asynchronously():
    async with AsyncAnthropic() as client:
        return await asyncio.gather(*(threw(client, name) for name in ("ann", "bob")))


def main():
    with Anthropic() as client:
        results = list(at_once(client))
    return [*results, asyncio.run(asynchronously())]


if __name__ == "__main__":
    print(json.dumps(main()))
