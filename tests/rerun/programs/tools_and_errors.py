"""Decorated tools: what they write is written once; their exceptions come back as their own class."""

import asyncio
import os
import random

from common_openai import ask, ask_async
from openai import AsyncOpenAI, OpenAI

import lctl


class CardDeclined(Exception):
    def __init__(self, amount, reason):
        super().__init__(f"{amount}: {reason}")
        self.amount, self.reason = amount, reason


@lctl.tool
def pay(amount):
    with open(os.environ["LEDGER"], "a") as file:
        file.write(f"{amount}\n")
    if amount > 50:
        raise CardDeclined(amount, random.choice(["limit", "stolen"]))
    return {"receipt": random.random(), "items": (1, 2)}


@lctl.tool
async def lookup(name):
    await asyncio.sleep(0.01)
    return {name, "other"}


@lctl.tool
def listing(count):
    for n in range(count):
        yield n * random.random()


client = OpenAI()
for amount in (10, 99):
    try:
        print(pay(amount))
    except CardDeclined as error:
        print(type(error).__name__, error.amount, error.reason)
    print(ask(client, f"Paid {amount}"))
print(list(listing(3)))


async def main():
    found = await asyncio.gather(*[lookup(f"n{n}") for n in range(3)])
    print([sorted(each) for each in found], {type(each) for each in found})
    print(await ask_async(AsyncOpenAI(), f"{[sorted(each) for each in found]}"))


asyncio.run(main())
