"""Three recordings, one after the other, and nothing of the program in between."""

from typing import Any

from openai import OpenAI

import lctl

for number in range(3):
    with lctl.LCTLSession() as log, log.step(f"worker-{number}", "job"):
        said: Any = [{"role": "user", "content": f"Job {number}"}]
        answer = OpenAI().chat.completions.create(model="gpt-4.1-mini", messages=said)
        print(answer.choices[0].message.content)
