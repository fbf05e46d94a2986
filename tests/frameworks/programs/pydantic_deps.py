"""Pydantic AI: tools in threads and tasks that change what lies deep in their dependencies; one with a prefix;
functions that models call to give their output, one of which lets another agent work; a toolset of one's own."""

import asyncio
import json
from dataclasses import dataclass, field

from pydantic import BaseModel
from pydantic_ai import Agent, FunctionToolset, ModelRetry, RunContext, ToolOutput
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema


class Account(BaseModel):
    balance: float
    moves: list[dict[str, float]] = []


class Bank:
    def __init__(self):
        self.accounts = {"ann": Account(balance=10), "bob": Account(balance=5)}
        self.connection = None

    def move(self, giver, taker, amount):
        if self.connection is None:
            self.connection = object()  # what no recording can keep
        if self.accounts[giver].balance < amount:
            raise ModelRetry("too little")
        self.accounts[giver].balance -= amount
        self.accounts[taker].balance += amount
        self.accounts[giver].moves.append({taker: amount})


@dataclass
class Deps:
    bank: Bank = field(default_factory=Bank)
    seen: dict = field(default_factory=lambda: {"by": {}})


def banker():
    returns = FunctionToolset()
    toolsets = [returns.prefixed("later")]
    agent = Agent("openai-chat:gpt-4.1-mini", name="banker", deps_type=Deps, toolsets=toolsets)

    @agent.tool
    def move(context: RunContext[Deps], giver: str, taker: str, amount: float) -> str:
        """Move money."""
        context.deps.seen["by"].setdefault(giver, []).append(amount)
        context.deps.bank.move(giver, taker, amount)
        return "moved"

    @returns.tool
    async def give_back(context: RunContext[Deps], amount: float) -> str:
        """Move it back."""
        context.deps.bank.move("bob", "ann", amount)
        return "given back"

    return agent


class Shop(AbstractToolset):
    id = "shop"
    sold = 0

    async def get_tools(self, ctx):
        given = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
        sell = ToolDefinition(name="sell", parameters_json_schema=given)
        checked = SchemaValidator(core_schema.dict_schema())
        return {"sell": ToolsetTool(toolset=self, tool_def=sell, max_retries=1, args_validator=checked)}

    async def call_tool(self, name, tool_args, ctx, tool):
        self.sold += 1
        if tool_args["item"] == "moon":
            raise ModelRetry("not that")
        return {"sold": tool_args["item"]}


class Clerk(AbstractToolset):
    """One that has another toolset do it."""

    id = "clerk"
    shop = FunctionToolset()

    async def get_tools(self, ctx):
        return await self.shop.get_tools(ctx)

    async def call_tool(self, name, tool_args, ctx, tool):
        return f"The clerk {await self.shop.call_tool(name, tool_args, ctx, tool)}"


@Clerk.shop.tool_plain
def wrap(item: str) -> str:
    """Wrap it."""
    return f"wrapped a {item}"


def sold():
    near, far = Shop(), Shop()
    toolsets = [near, far.prefixed("far"), Clerk()]
    seller = Agent("openai-chat:gpt-4.1-mini", name="seller", toolsets=toolsets)
    return [seller.run_sync("Sell").output, near.sold, far.sold]


def look_up(context: RunContext[Deps], name: str) -> Account:
    """Give the account of somebody."""
    if not context.partial_output:
        context.deps.seen["looks"] = context.deps.seen.get("looks", 0) + 1
    if name not in context.deps.bank.accounts:
        raise ModelRetry("ask for ann")
    return context.deps.bank.accounts[name]


async def ask_clerk(question: str) -> str:
    """Leave it to a clerk."""
    return (await Agent("openai-chat:gpt-4.1-nano", name="clerk").run(question)).output


async def streamed(teller, deps):
    async with teller.run_stream("Stream", deps=deps) as run:
        return [each.balance async for each in run.stream_output()][-1]


def outputs(deps):
    output = [look_up, ToolOutput(ask_clerk, name="clerk")]
    teller = Agent("openai-chat:gpt-4.1-mini", name="teller", deps_type=Deps, output_type=output)
    told = [teller.run_sync(text, deps=deps).output for text in ("Whose?", "A clerk?")]
    return [told[0].balance, told[1], asyncio.run(streamed(teller, deps)), deps.seen["looks"]]


def main():
    results = []
    deps = Deps()
    results.append(banker().run_sync("Move 3", deps=deps).output)
    accounts = {name: account.model_dump() for name, account in deps.bank.accounts.items()}
    seen = {
        giver: sorted(amounts) for giver, amounts in deps.seen["by"].items()
    }  # threads race for the order
    return [*results, accounts, seen, sold(), outputs(Deps())]


if __name__ == "__main__":
    print(json.dumps(main()))
