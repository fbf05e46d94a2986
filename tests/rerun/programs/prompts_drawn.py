"""Talks at prompts that prompt_toolkit draws: in a loop of its own, and beside tasks that print."""

import asyncio
import sys
import time

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI
from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.completion import Completer, Completion
from prompt_toolkit.formatted_text import HTML
from prompt_toolkit.patch_stdout import patch_stdout


class Words(Completer):
    """Of the program's own; how often it is asked hangs on the keys."""

    def get_completions(self, document, complete_event):
        yield Completion(str(time.time()))


def in_turns():
    asked = []
    session = PromptSession(
        lambda: f"{time.strftime('%H:%M')} ask{len(asked)}:", completer=Words(), complete_while_typing=True
    )
    while True:
        asked.append(1)
        try:
            said = session.prompt()
        except KeyboardInterrupt:
            print("interrupted")
            continue
        except EOFError:
            break
        print_formatted_text(HTML(f"<b>{ask(OpenAI(), said)}</b>"))


async def tick(client, told):
    for n in range(3):
        told.append(await ask_async(client, f"tick {n}"))
        print("tick", n, told[-1])
        await asyncio.sleep(0.05)


async def beside():
    session, client, told = PromptSession(), AsyncOpenAI(), []
    with patch_stdout():
        ticking = asyncio.create_task(tick(client, told))
        said = await session.prompt_async("said:")
        print("you said", said, flush=True)
        task = asyncio.create_task(ask_async(client, said))
        print(await task)
        await ticking
        try:
            await asyncio.wait_for(session.prompt_async("late:"), 0.3)
        except asyncio.TimeoutError:
            print("nobody said anything")
    print(await session.prompt_async("last:"))


def in_secret():
    """A key is asked for, and not shown."""
    client = OpenAI(api_key=PromptSession().prompt("key:", is_password=True))
    print(ask(client, PromptSession().prompt("said:")))


if "secret" in sys.argv:
    in_secret()
elif "beside" in sys.argv:
    asyncio.run(beside())
else:
    in_turns()
print("bye", time.time())
