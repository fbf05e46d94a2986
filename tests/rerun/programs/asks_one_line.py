"""Begins its recording itself, however Python is started."""

import lctl

lctl.auto_instrument()

from openai import OpenAI  # noqa: E402

client = OpenAI()
for question in ("Is it raining?", "Is it raining?"):
    answer = client.chat.completions.create(model="gpt-4.1", messages=[{"role": "user", "content": question}])
    print(answer.choices[0].message.content)
