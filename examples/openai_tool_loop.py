"""A tool loop written by hand, with nothing of lctl in it but the first line.

The log shows two model calls and, between them, the tool call with input, output and elapsed time: lctl
reads it from the messages. `lctl show last` prints them; the conversation is stored once, not twice.
"""

import json
from typing import Any

from openai import OpenAI

import lctl
from lctl.testing import ModelServer, Reply

lctl.auto_instrument()

STOCK = {"apples": 12, "pears": 0}
COUNT: Any = {
    "type": "function",
    "function": {
        "name": "count",
        "parameters": {"type": "object", "properties": {"fruit": {"type": "string"}}, "required": ["fruit"]},
    },
}


def run(client: OpenAI, question: str) -> str:
    """Ask, run the tools the model calls, and ask again until it answers."""
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        answer = client.chat.completions.create(model="gpt-4.1-mini", messages=messages, tools=[COUNT])
        message: Any = answer.choices[0].message
        if not message.tool_calls:
            return str(message.content)
        messages.append(message)
        for call in message.tool_calls:
            found = STOCK[json.loads(call.function.arguments)["fruit"]]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(found)})


with ModelServer() as server:
    server.script([Reply(tool_calls=[("count", {"fruit": "apples"})]), "There are 12 apples."])
    print(run(OpenAI(base_url=server.openai_url, api_key="test"), "How many apples are there?"))
