"""Mistral's client, told to try again, where its server is busy at first: whole, streamed, async; and where it
stays busy; several at once, whose answers the client hands to threads before it gives them."""

import asyncio
import json
import os

from mistralai.client import Mistral, errors
from mistralai.client.utils import BackoffStrategy, RetryConfig

URL = os.environ["OLLAMA_HOST"]
PATIENT = RetryConfig("backoff", BackoffStrategy(10, 50, 1.1, 5000), False)
HASTY = RetryConfig("backoff", BackoffStrategy(10, 50, 1.1, 0), False)


def asked(text):
    return {"model": "mistral-small", "messages": [{"role": "user", "content": text}]}


async def without_waiting():
    async with Mistral(api_key="test", server_url=URL, retry_config=PATIENT) as client:
        answer = await client.chat.complete_async(**asked("Busy? Say async hello"))
        return answer.choices[0].message.content


async def one(client, text):
    return (await client.chat.complete_async(**asked(text))).choices[0].message.content


async def at_once():
    async with Mistral(api_key="test", server_url=URL) as client:
        told = await asyncio.gather(*(one(client, f"Call {number}") for number in range(6)))
        pieces = [event.data async for event in await client.chat.stream_async(**asked("In pieces"))]
        told.append("".join(piece.choices[0].delta.content or "" for piece in pieces))
        return [*told, pieces[-1].usage.total_tokens]


def main():
    told = []
    with Mistral(api_key="test", server_url=URL, retry_config=PATIENT) as client:
        told.append(client.chat.complete(**asked("Busy? Say hello")).choices[0].message.content)
        with client.chat.stream(**asked("Busy? Say it in pieces")) as stream:
            pieces = [event.data.choices[0].delta.content for event in stream]
        told.append([text for text in pieces if isinstance(text, str)])
        try:
            client.chat.complete(**asked("Refuse"), retries=HASTY)
        except errors.SDKError as error:
            told.append(error.status_code)
    return [*told, asyncio.run(without_waiting()), asyncio.run(at_once())]


if __name__ == "__main__":
    print(json.dumps(main()))
