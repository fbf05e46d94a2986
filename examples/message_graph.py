"""A list of messages that remembers: edit what the model reads, and keep what it has read.

The log holds every context of every call, each message once. The list is a list: it goes to the client as
it is, and `json.dumps` takes it.
"""

import json

from openai import OpenAI

import lctl
from lctl.testing import ModelServer

lctl.auto_instrument()


def ask(client: OpenAI, history: lctl.MessageGraph) -> None:
    answer = client.chat.completions.create(model="gpt-4.1-mini", messages=history)  # type: ignore[arg-type]
    history.append(answer.choices[0].message)


with ModelServer() as server:
    server.script(["Four.", "Six.", "Twelve.", "It was about sums."])
    client = OpenAI(base_url=server.openai_url, api_key="test")

    history = lctl.MessageGraph()
    history.append({"role": "system", "content": "Be brief."})
    history.append({"role": "user", "content": "2+2?"})
    ask(client, history)

    history[1]["content"] = "3+3?"  # the model's answer to 2+2 stays what it was
    print("after the edit:", history.breaks[-1].reason, [node.text for node in history.versions(1)])

    history.pop()
    ask(client, history)
    print("previous:", [message["content"] for message in history.previous() or []])

    history.append({"role": "user", "content": "Twice that?"})
    ask(client, history)
    with history.edit():
        history[1:-1] = [{"role": "user", "content": "Sums were asked for."}]
    history.append({"role": "user", "content": "What was this about?"})
    ask(client, history)

    print("now:", json.dumps([message["content"] for message in history]))
    for one in history.breaks:
        print(f"  left at message {one.index}: {one.reason}")
    print(history.tip, "depth", history.depth)
