"""The clients of Ollama, Cohere, Groq and Mistral: whole answers, streams, a tool each; those that can, async, too."""

import asyncio
import json
import os

import cohere
import groq
import ollama
from mistralai.client import Mistral

PROMPT = [{"role": "user", "content": "Say hello"}]
ASK = [{"role": "user", "content": "Weather in Rome?"}]
URL = os.environ["OLLAMA_HOST"]


def weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: its name
    """
    return f"sunny in {city}"


schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tool = {"type": "function", "function": {"name": "weather", "description": "d", "parameters": schema}}


def by_ollama():
    answer = ollama.chat(model="llama3", messages=ASK, tools=[weather])
    yield [(call.function.name, call.function.arguments) for call in answer.message.tool_calls]
    history = [*ASK, answer.message]
    for call in answer.message.tool_calls:
        said = weather(**call.function.arguments)
        history.append({"role": "tool", "tool_name": call.function.name, "content": said})
    yield ollama.chat(model="llama3", messages=history).message.content
    yield [part.message.content for part in ollama.chat(model="llama3", messages=PROMPT, stream=True)]


def by_cohere():
    client = cohere.ClientV2(base_url=URL, api_key="test")
    yield client.chat(model="command-a", messages=PROMPT).message.content[0].text
    answer = client.chat(model="command-a", messages=ASK, tools=[tool])
    yield answer.message.tool_calls[0].function.arguments
    yield [event.type for event in client.chat_stream(model="command-a", messages=PROMPT)]


def by_groq():
    client = groq.Groq(base_url=URL, api_key="test")
    yield client.chat.completions.create(model="llama-3.3", messages=PROMPT).choices[0].message.content
    stream = client.chat.completions.create(model="llama-3.3", messages=PROMPT, stream=True)
    yield [chunk.choices[0].delta.content for chunk in stream if chunk.choices]


def by_mistral():
    client = Mistral(api_key="test", server_url=URL)
    yield client.chat.complete(model="mistral-small", messages=PROMPT).choices[0].message.content
    stream = client.chat.stream(model="mistral-small", messages=PROMPT)
    said = [event.data.choices[0].delta.content for event in stream]
    yield [text for text in said if isinstance(text, str)]


async def without_waiting():
    told = [(await ollama.AsyncClient().chat(model="llama3", messages=PROMPT)).message.content]
    async with cohere.AsyncClientV2(base_url=URL, api_key="test") as client:
        told.append((await client.chat(model="command-a", messages=PROMPT)).message.content[0].text)
    async with Mistral(api_key="test", server_url=URL) as client:
        answer = await client.chat.complete_async(model="mistral-small", messages=PROMPT)
        told.append(answer.choices[0].message.content)
    return told


def main():
    told = [*by_ollama(), *by_cohere(), *by_groq(), *by_mistral()]
    return told + asyncio.run(without_waiting())


if __name__ == "__main__":
    print(json.dumps(main()))
