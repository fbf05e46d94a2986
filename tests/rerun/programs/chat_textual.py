"""A chat on Textual: a worker streams the answer into the page, another one asks in a thread."""

import asyncio

from common_openai import MODEL, ask, say
from openai import AsyncOpenAI, OpenAI
from textual import work
from textual.app import App
from textual.widgets import Input, Static

#: What stands there, by how many answers there are: no two have a letter in common, so that all is drawn.
MARKS = ["aaaa", "bbbb", "cccc", "dddd"]


class Chat(App):
    def compose(self):
        yield Static("", id="answer")
        yield Input(id="key", password=True, placeholder="key")
        yield Input(id="text", placeholder="text")

    def on_mount(self):
        self.said = []
        self.client = AsyncOpenAI()
        self.query_one("#key").focus()
        self.call_after_refresh(self.tell, MARKS[0])

    def tell(self, text):
        self.query_one("#answer").update(text)

    def on_input_submitted(self, event):
        value, event.input.value = event.value, ""
        if event.input.id == "key":
            self.query_one("#text").focus()
            self.call_after_refresh(self.tell, MARKS[1])
        elif value == "thread":
            self.ask_beside()
        else:
            self.answer(value)

    @work(exclusive=True)
    async def answer(self, text):
        stream = await self.client.chat.completions.create(model=MODEL, messages=say(text), stream=True)
        pieces = []
        async for chunk in stream:
            if chunk.choices:
                pieces.append(chunk.choices[0].delta.content or "")
            self.tell("".join(pieces))
            await asyncio.sleep(0.01)
        self.said.append("".join(pieces))
        self.tell(MARKS[len(self.said) + 1])

    @work(thread=True)
    def ask_beside(self):
        answer = ask(OpenAI(), "beside")
        self.call_from_thread(self.said.append, answer)
        self.call_from_thread(self.tell, MARKS[len(self.said) + 1])


app = Chat()
app.run()
print(*app.said, sep="\n")
