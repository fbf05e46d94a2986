"""A stream that is left half-way in a cycle of references: the collector ends it, in one run between two calls
(where there is a folder `collect`), in another one never."""

import gc
import os

from common_openai import MODEL, ask, say
from openai import OpenAI

client = OpenAI()


def leave():
    pieces = iter(client.chat.completions.create(model=MODEL, messages=say("Tell a story."), stream=True))
    cycle = [pieces]
    cycle.append(cycle)
    return next(pieces).choices[0].delta.role


gc.disable()
print(leave())
print(ask(client, "One."))
if os.access("collect", os.F_OK):
    gc.collect()
print(ask(client, "Two."))
