"""A tool-calling agent: sync, async and streaming, one after the other. The tools mint random ids."""

import asyncio
import json
import random
import uuid

from openai import AsyncOpenAI, OpenAI

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book",
            "description": "Book a room.",
            "parameters": {
                "type": "object",
                "properties": {"room": {"type": "string"}, "nights": {"type": "integer"}},
                "required": ["room", "nights"],
            },
        },
    }
]


def book(**given):
    return {"id": str(uuid.uuid4()), "price": random.randint(50, 500), **given}


def results(calls):
    for call in calls:
        value = book(**json.loads(call.function.arguments))
        yield {"role": "tool", "tool_call_id": call.id, "content": json.dumps(value)}


def run(create):
    messages = [{"role": "user", "content": "Book a room by the sea."}]
    for _ in range(4):
        message = create(messages)
        print(message.content, [call.function.arguments for call in message.tool_calls or ()])
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        messages += results(message.tool_calls)


def sync(client):
    def create(messages):
        return (
            client.chat.completions.create(model="gpt-4.1", messages=messages, tools=TOOLS).choices[0].message
        )

    run(create)


def streaming(client):
    def create(messages):
        with client.chat.completions.stream(model="gpt-4.1", messages=messages, tools=TOOLS) as stream:
            for event in stream:
                if event.type == "chunk":
                    print("chunk", end=" ")
            return stream.get_final_completion().choices[0].message

    run(create)


async def asynchronous(client):
    messages = [{"role": "user", "content": "Book a room in the hills."}]
    for _ in range(4):
        answer = await client.chat.completions.create(model="gpt-4.1", messages=messages, tools=TOOLS)
        message = answer.choices[0].message
        print(message.content, [call.function.arguments for call in message.tool_calls or ()])
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        messages += results(message.tool_calls)


sync(OpenAI())
streaming(OpenAI())
asyncio.run(asynchronous(AsyncOpenAI()))
