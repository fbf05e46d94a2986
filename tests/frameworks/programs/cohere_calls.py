"""Cohere's client where its server is busy at first: whole and async, and where it stays busy; a stream."""

import asyncio
import json
import os

import cohere
import httpx

URL = os.environ["OLLAMA_HOST"]


def asked(text):
    return {"model": "command-a", "messages": [{"role": "user", "content": text}]}


async def without_waiting():
    async with cohere.AsyncClientV2(base_url=URL, api_key="test") as client:
        return (await client.chat(**asked("Busy? Say async hello"))).message.content[0].text


def main():
    told = []
    with httpx.Client() as transport:
        client = cohere.ClientV2(base_url=URL, api_key="test", httpx_client=transport)
        told.append(client.chat(**asked("Busy? Say hello")).message.content[0].text)
        told.append([event.type for event in client.chat_stream(**asked("Say it in pieces"))])
        try:
            client.chat(**asked("Refuse"), request_options={"max_retries": 1})
        except cohere.TooManyRequestsError as error:
            told.append(error.status_code)
    return [*told, asyncio.run(without_waiting())]


if __name__ == "__main__":
    print(json.dumps(main()))
