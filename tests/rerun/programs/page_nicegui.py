"""A chat on a page of NiceGUI's."""

import sys

from common_openai import MODEL
from nicegui import ui
from openai import AsyncOpenAI

client = AsyncOpenAI()


@ui.page("/")
def page() -> None:
    said = []
    box = ui.column()

    async def send() -> None:
        said.append({"role": "user", "content": field.value})
        field.value = ""
        answer = await client.chat.completions.create(model=MODEL, messages=said)
        said.append({"role": "assistant", "content": answer.choices[0].message.content})
        with box:
            ui.label(said[-1]["content"])

    field = ui.input("Say").on("keydown.enter", send)


ui.run(port=int(sys.argv[1]), show=False, reload=False, loop="asyncio")
