"""A stream that is open at the very end: closed there (where there is a folder `close`), or left."""

import os

from common_openai import MODEL, say
from openai import OpenAI

stream = OpenAI().chat.completions.create(model=MODEL, messages=say("Tell a story."), stream=True)
print(next(iter(stream)).choices[0].delta.role)
if os.access("close", os.F_OK):
    stream.close()
