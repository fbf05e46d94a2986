"""google-genai's interactions: kept by the provider and sent whole, streamed, tools, sync and async, errors."""

import asyncio
import json

from google import genai

MODEL = "gemini-3-pro"
TOOL = {"type": "function", "name": "weather", "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}  # fmt: skip


def results(steps):
    asked = [step for step in steps if step.type == "function_call"]
    return [
        {
            "type": "function_result",
            "call_id": call.id,
            "name": call.name,
            "result": f"sunny in {call.arguments['city']}",
        }
        for call in asked
    ]


def kept(interactions):
    first = interactions.create(model=MODEL, input="Say hello", system_instruction="Be brief.")
    yield first.output_text, first.usage.total_tokens
    second = interactions.create(model=MODEL, input="And now?", previous_interaction_id=first.id)
    yield second.output_text
    with interactions.create(
        model=MODEL, input="Tell me a story", previous_interaction_id=second.id, stream=True
    ) as events:
        yield [
            event.delta.text
            for event in events
            if event.event_type == "step.delta" and event.delta.type == "text"
        ]
    asked = interactions.create(model=MODEL, input="Weather in Rome and Atlantis?", tools=[TOOL])
    yield asked.status
    given = results(asked.steps)
    yield interactions.create(
        model=MODEL, input=given, tools=[TOOL], previous_interaction_id=asked.id
    ).output_text


def sent(interactions):
    """The program keeps its history itself."""
    history = [{"type": "user_input", "content": [{"type": "text", "text": "Weather in Rome?"}]}]
    asked = interactions.create(model=MODEL, input=history, tools=[TOOL], store=False)
    history += [step.model_dump(exclude_none=True) for step in asked.steps]
    history += results(asked.steps)
    yield interactions.create(model=MODEL, input=history, tools=[TOOL], store=False).output_text
    try:
        interactions.create(model=MODEL, input="Overload")
    except Exception as error:
        yield type(error).__name__


async def asynchronous(interactions):
    found = await interactions.create(model=MODEL, input="Async hello")
    events = await interactions.create(model=MODEL, input="Async weather?", tools=[TOOL], stream=True)
    return [found.output_text, [event.event_type async for event in events]]


def main():
    client = genai.Client()
    found = [*kept(client.interactions), *sent(client.interactions)]

    async def run():
        try:
            return await asynchronous(client.aio.interactions)
        finally:
            await client.aio.aclose()

    return found + asyncio.run(run())


if __name__ == "__main__":
    print(json.dumps(main()))
