"""What the programs share: one prompt, one answer."""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI, OpenAI

MODEL = "gpt-4.1-mini"


def say(*messages: str) -> list[Any]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(messages)]


def ask(client: OpenAI, *messages: str, **options: Any) -> str:
    answer = client.chat.completions.create(model=MODEL, messages=say(*messages), **options)
    return answer.choices[0].message.content or ""


async def ask_async(client: AsyncOpenAI, *messages: str, **options: Any) -> str:
    answer = await client.chat.completions.create(model=MODEL, messages=say(*messages), **options)
    return answer.choices[0].message.content or ""
