"""The same agent on Anthropic's SDK: sync, streaming by the helper, async."""

import asyncio
import json
import random
import time

from anthropic import Anthropic, AsyncAnthropic

TOOLS = [
    {
        "name": "weigh",
        "description": "Weigh a parcel.",
        "input_schema": {
            "type": "object",
            "properties": {"parcel": {"type": "string"}},
            "required": ["parcel"],
        },
    }
]


def weigh(given):
    return json.dumps({"grams": random.random() * 1000, "at": time.time(), **given})


def turn(messages, answer):
    print(answer.stop_reason, [block.model_dump() for block in answer.content])
    messages.append(
        {"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in answer.content]}
    )
    found = [
        {"type": "tool_result", "tool_use_id": block.id, "content": weigh(block.input)}
        for block in answer.content
        if block.type == "tool_use"
    ]
    if found:
        messages.append({"role": "user", "content": found})
    return bool(found)


def start():
    return [{"role": "user", "content": "What does parcel seven weigh?"}]


ASKED = {"model": "claude-sonnet-4-5", "max_tokens": 500, "tools": TOOLS}


def sync():
    client, messages = Anthropic(), start()
    for _ in range(4):
        if not turn(messages, client.messages.create(messages=messages, **ASKED)):
            break


def streaming():
    client, messages = Anthropic(), start()
    for _ in range(4):
        with client.messages.stream(messages=messages, **ASKED) as stream:
            print("".join(stream.text_stream))
            answer = stream.get_final_message()
        if not turn(messages, answer):
            break


async def asynchronous():
    client, messages = AsyncAnthropic(), start()
    for _ in range(4):
        if not turn(messages, await client.messages.create(messages=messages, **ASKED)):
            break


sync()
streaming()
asyncio.run(asynchronous())
