"""A chat on a page of Chainlit's, whose answers are streamed."""

import chainlit as cl
from common_openai import MODEL
from openai import AsyncOpenAI

client = AsyncOpenAI()


@cl.on_chat_start
def start() -> None:
    cl.user_session.set("said", [])


@cl.on_message
async def on_message(message: cl.Message) -> None:
    said = cl.user_session.get("said")
    said.append({"role": "user", "content": message.content})
    answer = cl.Message(content="")
    async for chunk in await client.chat.completions.create(model=MODEL, messages=said, stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            await answer.stream_token(chunk.choices[0].delta.content)
    await answer.update()
    said.append({"role": "assistant", "content": answer.content})
