"""Pydantic AI: tools in threads and tasks that change what lies deep in their dependencies; one with a prefix."""

import json
from dataclasses import dataclass, field

from pydantic import BaseModel
from pydantic_ai import Agent, FunctionToolset, ModelRetry, RunContext


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


def main():
    results = []
    deps = Deps()
    results.append(banker().run_sync("Move 3", deps=deps).output)
    accounts = {name: account.model_dump() for name, account in deps.bank.accounts.items()}
    seen = {
        giver: sorted(amounts) for giver, amounts in deps.seen["by"].items()
    }  # threads race for the order
    return [*results, accounts, seen]


if __name__ == "__main__":
    print(json.dumps(main()))
