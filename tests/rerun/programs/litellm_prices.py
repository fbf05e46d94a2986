"""litellm, which gets no prices when it is imported and asks again in a thread; then jobs in a pool."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

if "auto" in sys.argv:
    import lctl

    lctl.auto_instrument()

import litellm

litellm.Usage()  # built when it is first asked for, which threads at once do not survive

options = {"model": "openai/gpt-4.1-mini", "api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test"}


def ask(n):
    said = [{"role": "user", "content": f"Question {n}"}]
    return litellm.completion(messages=said, **options).choices[0].message.content


with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(ask, range(3))))
time.sleep(3.5)  # it asks again after 2 to 3 seconds
print(ask(3))
