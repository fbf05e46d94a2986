"""Planner, three workers in parallel (two tasks, one thread), reviewer, and one payment tool."""

import asyncio
import json
import os
import random

from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI

import lctl

MODEL = "gpt-4.1-mini"


def say(*texts):
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


@lctl.tool
def quote(supplier):
    """A price from a supplier; different each time it is asked."""
    return {"supplier": supplier, "price": random.randint(100, 999)}


@lctl.tool
def pay(supplier, amount):
    """Money leaves here, so never twice."""
    with open(os.environ["LEDGER"], "a") as ledger:
        ledger.write(f"{supplier} {amount}\n")
    return {"receipt": f"R{random.getrandbits(40):010x}"}


def answer(client, *texts):
    return client.chat.completions.create(model=MODEL, messages=say(*texts)).choices[0].message.content


async def answer_async(client, *texts):
    made = await client.chat.completions.create(model=MODEL, messages=say(*texts))
    return made.choices[0].message.content


async def worker(client, supplier, plan):
    with lctl.traced_step(f"worker-{supplier}", "compare"):
        question = await answer_async(client, f"What to ask {supplier}? {plan}")
        offer = quote(supplier)
        return offer, await answer_async(client, question, "", f"They say {json.dumps(offer)}")


def threaded(client, supplier, plan):
    with lctl.traced_step(f"worker-{supplier}", "compare"):
        question = answer(client, f"What to ask {supplier}? {plan}")
        offer = quote(supplier)
        return offer, answer(client, question, "", f"They say {json.dumps(offer)}")


async def work(plan):
    client, sync = AsyncOpenAI(), OpenAI()
    return await asyncio.gather(
        worker(client, "north", plan),
        worker(client, "south", plan),
        asyncio.to_thread(threaded, sync, "east", plan),
    )


def main():
    with lctl.traced_step("planner", "plan"):
        plan = answer(OpenAI(), "Plan the purchase.")
    offers = asyncio.run(work(plan))
    for offer, remark in offers:
        print(offer, remark)
    with lctl.traced_step("reviewer", "decide"):
        made = Anthropic().messages.create(
            model="claude-sonnet-4-5", max_tokens=300, messages=say("Decide: " + json.dumps(offers))
        )
        print(made.content[0].text)
    best = min((offer for offer, _ in offers), key=lambda offer: offer["price"])
    print(pay(best["supplier"], best["price"]))


main()
