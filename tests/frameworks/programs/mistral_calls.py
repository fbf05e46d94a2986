"""Mistral's client, told to try again, where its server is busy at first: whole, streamed, async; and where it
stays busy."""

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
    return [*told, asyncio.run(without_waiting())]


if __name__ == "__main__":
    print(json.dumps(main()))
