"""Answers that are kept for a time, by a clock that the cache's class reads."""

import time

import cachetools
from common_openai import ask
from openai import OpenAI

client = OpenAI()
kept: cachetools.TTLCache[str, str] = cachetools.TTLCache(10, ttl=0.5)


@cachetools.cached(kept)
def asked(question: str) -> str:
    return ask(client, question)


print(asked("a"))
print(asked("a"))
time.sleep(0.6)
print(asked("a"))
