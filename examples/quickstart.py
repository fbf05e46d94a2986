"""Record a program with one line.

Prints the model's answer. At exit lctl says on stderr how many events it recorded, in which file under
`.lctl/`, and what to type next: `lctl replay last`, for one.
"""

from openai import OpenAI

import lctl
from lctl.testing import ModelServer

lctl.auto_instrument()  # this line records everything below

with ModelServer(seed=1) as server:  # stands in for the provider: no network, no key
    client = OpenAI(base_url=server.openai_url, api_key="test")
    answer = client.chat.completions.create(
        model="gpt-4.1-mini",
        messages=[{"role": "user", "content": "Why is the sky blue?"}],
    )
    print(answer.choices[0].message.content)
