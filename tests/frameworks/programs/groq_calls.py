"""Groq's client where its server is busy at first: whole, streamed and async, and where it stays busy."""

import asyncio
import json
import os

import groq

URL = os.environ["OLLAMA_HOST"]


def asked(text):
    return {"model": "llama-3.3", "messages": [{"role": "user", "content": text}]}


async def without_waiting():
    async with groq.AsyncGroq(base_url=URL, api_key="test") as client:
        answer = await client.chat.completions.create(**asked("Busy? Say async hello"))
        stream = await client.chat.completions.create(**asked("Busy? Stream an async hello"), stream=True)
        pieces = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices]
    return [answer.choices[0].message.content, pieces]


def main():
    told = []
    with groq.Groq(base_url=URL, api_key="test") as client:
        told.append(client.chat.completions.create(**asked("Busy? Say hello")).choices[0].message.content)
        stream = client.chat.completions.create(**asked("Busy? Stream a hello"), stream=True)
        told.append([chunk.choices[0].delta.content for chunk in stream if chunk.choices])
        try:
            client.with_options(max_retries=1).chat.completions.create(**asked("Refuse"))
        except groq.RateLimitError as error:
            told.append(type(error).__name__)
    return told + asyncio.run(without_waiting())


if __name__ == "__main__":
    print(json.dumps(main()))
