"""Two threads of chained calls and a gather of ten at the same time, on both SDKs."""

import asyncio
import threading

from anthropic import Anthropic, AsyncAnthropic
from common_openai import ask, ask_async, say
from openai import AsyncOpenAI, OpenAI

log = []


def asks_openai():
    client, text = OpenAI(), "go"
    for _ in range(4):
        text = ask(client, "Go on.", text, f"{len(log)}")
        log.append(("openai", text))


def asks_anthropic():
    client, text = Anthropic(), "go"
    for _ in range(4):
        messages = say("Go on.", text, f"{len(log)}")
        with client.messages.stream(model="claude-sonnet-4-5", max_tokens=100, messages=messages) as stream:
            text = "".join(stream.text_stream)
        log.append(("anthropic", text))


async def main():
    ours, theirs = AsyncOpenAI(), AsyncAnthropic()

    async def one(n):
        if n % 2:
            text = await ask_async(ours, "Pick one.")
        else:
            answer = await theirs.messages.create(
                model="claude-sonnet-4-5", max_tokens=100, messages=say("Pick one.")
            )
            text = answer.content[0].text
        log.append((n, text))
        return text

    return await asyncio.gather(*[one(n) for n in range(10)])


threads = [threading.Thread(target=asks_openai), threading.Thread(target=asks_anthropic)]
for thread in threads:
    thread.start()
print(asyncio.run(main()))
for thread in threads:
    thread.join()
for item in log:
    print(*item)
