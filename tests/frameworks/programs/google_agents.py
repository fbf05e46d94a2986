"""google-genai: sync and async (aiohttp), streamed, tools by hand and called by the SDK, chats, embeddings, errors."""

import asyncio
import json

from google import genai
from google.genai import errors, types

MODEL = "gemini-2.5-flash"


def weather(city: str) -> str:
    """The weather in a city."""
    with open("asked.txt", "a") as file:
        file.write(city + "\n")
    if city == "Atlantis":
        raise ValueError("no such city")
    return f"sunny in {city}"


def show(response):
    usage = response.usage_metadata
    counts = usage and (usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count)
    left_out = {"thought_signature"}
    parts = [part.model_dump(exclude_none=True, exclude=left_out) for part in response.parts or ()]
    return parts, counts


config = types.GenerateContentConfig(tools=[weather], system_instruction="Be brief.")


def asked(client):
    models = client.models
    yield show(models.generate_content(model=MODEL, contents="Say hello"))
    yield show(models.generate_content(model=MODEL, contents="Weather in Rome and Atlantis?", config=config))
    yield [chunk.text for chunk in models.generate_content_stream(model=MODEL, contents="Tell me a story")]
    chat = client.chats.create(model=MODEL)
    yield [chunk.text for chunk in chat.send_message_stream("First question")]
    yield chat.send_message("Second question").text
    # The functions run while the answer that asks for them still comes, and have run before.
    chat = client.chats.create(model=MODEL, config=config)
    yield chat.send_message("Weather in Rome?").text
    yield [chunk.text for chunk in chat.send_message_stream("And the weather of Atlantis?")]
    vectors = models.embed_content(model="gemini-embedding-001", contents=["one", "two"])
    yield [len(one.values) for one in vectors.embeddings]
    yield models.count_tokens(model=MODEL, contents="How many?").total_tokens
    try:
        models.generate_content(model=MODEL, contents="Overload")
    except errors.APIError as error:
        yield type(error).__name__, error.code, error.status


async def asked_async(client):
    async def one(prompt):
        return (await client.models.generate_content(model=MODEL, contents=prompt)).text

    told = await asyncio.gather(one("async left"), one("async right"))
    ask = "Async weather in Rome?"
    told.append(show(await client.models.generate_content(model=MODEL, contents=ask, config=config)))
    stream = await client.models.generate_content_stream(model=MODEL, contents="Async story")
    told.append([chunk.text async for chunk in stream])
    await client.aclose()
    return told


def main():
    client = genai.Client()
    return [*asked(client), *asyncio.run(asked_async(client.aio))]


if __name__ == "__main__":
    print(json.dumps(main()))
