"""A stream that is open at the very end: closed there (where there is a folder `close`), or left."""

from pathlib import Path

from common_openai import MODEL, say
from openai import OpenAI

stream = OpenAI().chat.completions.create(model=MODEL, messages=say("Tell a story."), stream=True)
print(next(iter(stream)).choices[0].delta.role)
if Path("close").is_dir():
    stream.close()
