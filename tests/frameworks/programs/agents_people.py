"""The OpenAI Agents SDK: a hand-off with words, approvals, a context with depth, a tool that is given up."""

import asyncio
import json
from dataclasses import dataclass, field

from agents import (
    Agent,
    OpenAIResponsesModel,
    RunHooks,
    Runner,
    RunState,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from pydantic import BaseModel

set_tracing_disabled(True)


class Connection:
    """What no recording can keep."""

    def __init__(self):
        self.socket = object()


class Book:
    def __init__(self):
        self.entries = []
        self.connection = None

    def enter(self, entry):
        if self.connection is None:
            self.connection = Connection()
        self.entries.append(entry)


@dataclass
class Shop:
    cart: dict = field(default_factory=lambda: {"items": [{"name": "apple", "count": 1}], "sums": {"n": 1}})
    book: Book = field(default_factory=Book)


class Escalation(BaseModel):
    reason: str
    urgency: int


@function_tool
async def add(context, name: str) -> str:
    """Put something into the cart."""
    context.context.cart["items"].append({"name": name, "count": 1})
    context.context.cart["items"][0]["count"] += 1
    context.context.cart["sums"]["n"] += 1
    context.context.book.enter(("added", name))
    return f"{name} added"


@function_tool(needs_approval=True)
def pay(context, amount: int) -> str:
    """Pay."""
    context.context.book.enter(("paid", amount))
    return f"{amount} paid"


@function_tool
async def wait_for_ever() -> str:
    """Wait."""
    await asyncio.sleep(1000)
    return "never"


async def escalated(context, given: Escalation):
    context.context.book.enter(("escalated", given.urgency))


class Official(OpenAIResponsesModel):
    """As with the real service: the SDK sends a key of its own for the cache of prompts."""

    def _supports_default_prompt_cache_key(self):
        return True


def people(client):
    options = {"model": Official("gpt-4.1-mini", client)}
    human = Agent(name="human", instructions="Calm.", **options)
    desk = handoff(human, tool_name_override="escalate", on_handoff=escalated, input_type=Escalation)
    clerk = Agent(name="clerk", instructions="Sell.", tools=[add], handoffs=[desk], **options)
    cashier = Agent(name="cashier", instructions="Cash.", tools=[pay], **options)
    boss = Agent(
        name="boss",
        instructions="Lead.",
        tools=[cashier.as_tool("ask_cashier", "Ask the cashier.")],
        **options,
    )
    waiter = Agent(name="waiter", instructions="Wait.", tools=[wait_for_ever], **options)
    return clerk, cashier, boss, waiter


class Impatience(RunHooks):
    """Who has called a tool does not wait long for it."""

    def __init__(self, limit):
        self.limit = limit

    async def on_tool_start(self, context, agent, tool):
        self.limit.reschedule(asyncio.get_running_loop().time() + 0.5)


async def run():
    client = AsyncOpenAI()
    clerk, cashier, boss, waiter = people(client)
    shop, told = Shop(), []
    told.append((await Runner.run(clerk, "A pear", context=shop)).final_output)
    for agent in (cashier, boss):
        result = await Runner.run(agent, "Pay", context=shop)
        told.append([one.name for one in result.interruptions])
        state = await RunState.from_json(agent, result.to_state().to_json(), context_override=shop)
        for one in state.get_interruptions():
            state.approve(one)
        streamed = Runner.run_streamed(agent, state)
        told.append([event.type async for event in streamed.stream_events()])
        told.append(streamed.final_output)
    try:
        async with asyncio.timeout(None) as limit:
            await Runner.run(waiter, "Wait", context=shop, hooks=Impatience(limit))
    except TimeoutError:
        told.append("no longer")
    await client.close()
    return [told, shop.cart, shop.book.entries]


def main():
    return asyncio.run(run())


if __name__ == "__main__":
    print(json.dumps(main()))
