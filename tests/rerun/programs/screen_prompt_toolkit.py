"""Applications of prompt_toolkit whose keys ask models: a full screen, and one that is drawn below the rest."""

import sys

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI
from prompt_toolkit import Application
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import HSplit, Layout
from prompt_toolkit.widgets import TextArea

#: What stands there, by how many answers there are: no two have a letter in common, so that all is drawn.
MARKS = ["aaaa", "bbbb", "cccc", "dddd"]

client, said, keys = AsyncOpenAI(), [], KeyBindings()
shown = TextArea(text=MARKS[0], focusable=False)


def tell(answer):
    said.append(answer)
    shown.text = MARKS[len(said)]


def accept(buffer):
    text = buffer.text

    async def answer():
        tell(await ask_async(client, text))

    app.create_background_task(answer())


@keys.add("c-t")
def ask_at_once(event):
    tell(ask(OpenAI(), "at once"))


@keys.add("escape")
def escape(event):
    tell("escaped")


@keys.add("c-q")
def leave(event):
    event.app.exit(result=len(said))


line = TextArea(height=1, multiline=False, accept_handler=accept)
app = Application(
    Layout(HSplit([shown, line]), focused_element=line),
    key_bindings=keys,
    full_screen="below" not in sys.argv,
)
print(app.run(), *said, sep="\n")
