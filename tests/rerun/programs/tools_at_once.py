"""Threads whose tools draw numbers and read the clock at the same time, between calls, sleeps and streams."""

import random
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from common_openai import MODEL, ask, say
from openai import OpenAI

import lctl


@lctl.tool
def lookup(n):
    return {"n": n, "chance": random.random(), "at": time.time()}


def job(client, n):
    found = lookup(n)
    first = ask(client, f"Job {n} {found['chance']}")
    time.sleep(random.random() / 50)
    stream = client.chat.completions.create(model=MODEL, messages=say(f"Again {n} {first}"), stream=True)
    return n, "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


with OpenAI() as client, ThreadPoolExecutor(4) as pool:
    for done in as_completed([pool.submit(job, client, n) for n in range(6)]):
        print(done.result(), time.time())
    print(list(pool.map(lambda n: job(client, n), range(20, 23))))
