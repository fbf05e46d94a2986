"""google-genai: sync and async (aiohttp), streamed, tools by hand and called by the SDK, chats, embeddings, errors."""

import asyncio

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
    parts = [
        part.model_dump(exclude_none=True, exclude={"thought_signature"}) for part in response.parts or ()
    ]
    print(parts, counts)


client = genai.Client()
config = types.GenerateContentConfig(tools=[weather], system_instruction="Be brief.")

show(client.models.generate_content(model=MODEL, contents="Say hello"))
show(client.models.generate_content(model=MODEL, contents="Weather in Rome and Atlantis?", config=config))
for chunk in client.models.generate_content_stream(model=MODEL, contents="Tell me a story"):
    print(chunk.text, end="|")
print()

chat = client.chats.create(model=MODEL)
for chunk in chat.send_message_stream("First question"):
    print(chunk.text, end="|")
print(chat.send_message("Second question").text)

vectors = client.models.embed_content(model="gemini-embedding-001", contents=["one", "two"])
print([len(one.values) for one in vectors.embeddings])
print(client.models.count_tokens(model=MODEL, contents="How many?").total_tokens)

try:
    client.models.generate_content(model=MODEL, contents="Overload")
except errors.APIError as error:
    print(type(error).__name__, error.code, error.status)


async def main():
    async def one(prompt):
        return (await client.aio.models.generate_content(model=MODEL, contents=prompt)).text

    print(await asyncio.gather(one("async left"), one("async right")))
    show(
        await client.aio.models.generate_content(
            model=MODEL, contents="Async weather in Rome?", config=config
        )
    )
    async for chunk in await client.aio.models.generate_content_stream(model=MODEL, contents="Async story"):
        print(chunk.text, end="|")
    print()
    await client.aio.aclose()


asyncio.run(main())
