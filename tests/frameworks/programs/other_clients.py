"""The clients of Ollama, Cohere, Groq and Mistral: whole answers, streams, a tool each; those that can, async, too."""

import asyncio
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

# Ollama
answer = ollama.chat(model="llama3", messages=ASK, tools=[weather])
print(answer.message)
history = [*ASK, answer.message]
for call in answer.message.tool_calls:
    history.append(
        {"role": "tool", "tool_name": call.function.name, "content": weather(**call.function.arguments)}
    )
print(ollama.chat(model="llama3", messages=history).message.content)
print([part.message.content for part in ollama.chat(model="llama3", messages=PROMPT, stream=True)])

# Cohere
client = cohere.ClientV2(base_url=URL, api_key="test")
print(client.chat(model="command-a", messages=PROMPT).message.content[0].text)
answer = client.chat(model="command-a", messages=ASK, tools=[tool])
print(answer.message.tool_calls[0].function)
print([event.type for event in client.chat_stream(model="command-a", messages=PROMPT)])

# Groq
client = groq.Groq(base_url=URL, api_key="test")
print(client.chat.completions.create(model="llama-3.3", messages=PROMPT).choices[0].message.content)
stream = client.chat.completions.create(model="llama-3.3", messages=PROMPT, stream=True)
print([chunk.choices[0].delta.content for chunk in stream if chunk.choices])

# Mistral
client = Mistral(api_key="test", server_url=URL)
print(client.chat.complete(model="mistral-small", messages=PROMPT).choices[0].message.content)
print(
    [
        event.data.choices[0].delta.content
        for event in client.chat.stream(model="mistral-small", messages=PROMPT)
    ]
)


async def main():
    print((await ollama.AsyncClient().chat(model="llama3", messages=PROMPT)).message.content)
    async with cohere.AsyncClientV2(base_url=URL, api_key="test") as client:
        print((await client.chat(model="command-a", messages=PROMPT)).message.content[0].text)
    async with Mistral(api_key="test", server_url=URL) as client:
        answer = await client.chat.complete_async(model="mistral-small", messages=PROMPT)
        print(answer.choices[0].message.content)


asyncio.run(main())
