"""A library (`impatient`, in a folder of installed ones) that asks clocks in each way: how often it tries again,
what it lets through, keeps and believes hangs on what they say."""

import asyncio
import os
import sys
import time
from datetime import UTC, datetime

sys.path.insert(0, os.environ["INSTALLED"])
import impatient

import lctl

if "auto" in sys.argv:
    lctl.auto_instrument()

from common_openai import ask, ask_async
from openai import APIError, AsyncOpenAI, OpenAI

client = OpenAI(max_retries=0)
print(ask(client, "Begin")[:20])
count = 0


def fail():
    global count
    count += 1
    ask(client, f"Try {count}", extra_headers={"x-lctl-fault": "status=503; times=99"})


for tries in (impatient.by_name, impatient.by_date, impatient.in_nanoseconds):
    print(tries.__name__, tries(fail, APIError))

limiter, breaker, kept = impatient.Limiter(2, 1.0), impatient.Breaker(0.7), impatient.Kept(0.7)
until = time.time() + 1.6
good = datetime.fromtimestamp(until, UTC)
for step in range(6):
    said = [limiter.lets_through(), breaker.is_open(), kept.has(step), impatient.is_good(good)]
    said.append(impatient.is_made_before_now(time.time()))
    print(said, ask(client, f"Step {step}: {said}")[:20])
    time.sleep(0.35)


async def main():
    async with AsyncOpenAI(max_retries=0) as client:

        async def fail():
            await ask_async(client, "Again", extra_headers={"x-lctl-fault": "status=503; times=99"})

        print(await impatient.asynchronously(fail, APIError))


asyncio.run(main())
