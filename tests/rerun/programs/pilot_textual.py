"""A test of an app on Textual: the program itself presses its keys, and looks at what came of them."""

import asyncio

from common_openai import MODEL, say
from openai import AsyncOpenAI
from textual import work
from textual.app import App
from textual.widgets import Input


class Chat(App):
    def compose(self):
        yield Input(id="text")

    def on_mount(self):
        self.client = AsyncOpenAI()
        self.said = asyncio.Queue()
        self.query_one("#text").focus()

    def on_input_submitted(self, event):
        value, event.input.value = event.value, ""
        self.answer(value)

    @work
    async def answer(self, text):
        answer = await self.client.chat.completions.create(model=MODEL, messages=say(text))
        self.said.put_nowait(answer.choices[0].message.content)


async def main():
    async with Chat().run_test() as pilot:
        for word in ("hello", "thanks"):
            await pilot.press(*word, "enter")
            print(word, await pilot.app.said.get())


asyncio.run(main())
