"""pydantic-graph: nodes that ask agents, a loop, branches side by side and joined, a graph left half-way, one that fails."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

from pydantic_ai import Agent
from pydantic_graph import BaseNode, End, GraphBuilder, GraphRunContext, StepContext, reduce_list_append

asker = Agent("openai:gpt-4.1-mini", name="asker", system_prompt="You ask.")
judge = Agent("openai:gpt-4.1-mini", name="judge", system_prompt="You judge.")


@dataclass
class Quiz:
    asked: list[str] = field(default_factory=list)


@dataclass
class Ask(BaseNode[Quiz]):
    async def run(self, ctx: GraphRunContext[Quiz]) -> Judge:
        ctx.state.asked.append((await asker.run(f"Question {len(ctx.state.asked)}.")).output)
        return Judge(ctx.state.asked[-1])


@dataclass
class Judge(BaseNode[Quiz, None, str]):
    question: str

    async def run(self, ctx: GraphRunContext[Quiz]) -> End[str] | Ask:
        verdict = (await judge.run(self.question)).output
        return End(verdict) if len(ctx.state.asked) > 1 else Ask()


def quiz():
    made = GraphBuilder(name="quiz", state_type=Quiz, output_type=str)

    @made.step
    async def start(ctx: StepContext[Quiz, None, None]) -> Ask:
        return Ask()

    made.add(made.node(Ask), made.node(Judge), made.edge_from(made.start_node).to(start))
    return made.build()


def crowd():
    made = GraphBuilder(name="crowd", input_type=list[str], output_type=list[str])

    @made.step
    async def split(ctx: StepContext[None, None, list[str]]) -> list[str]:
        return [city.upper() for city in ctx.inputs]

    @made.step
    async def work(ctx: StepContext[None, None, str]) -> str:
        if ctx.inputs == "ATLANTIS":
            raise LookupError("no such city")
        return (await asker.run(f"Go to {ctx.inputs}.")).output

    joined = made.join(reduce_list_append, initial_factory=list[str])
    made.add(
        made.edge_from(made.start_node).to(split),
        made.edge_from(split).map().to(work),
        made.edge_from(work).to(joined),
        made.edge_from(joined).to(made.end_node),
    )
    return made.build()


async def everything():
    told = [await quiz().run(state=Quiz()), sorted(await crowd().run(inputs=["Rome", "Oslo"]))]
    graph = quiz()
    async with graph.iter(state=Quiz()) as run:
        async for _ in run:
            if run.state.asked:
                break
    told.append([graph.name, run.state.asked])
    try:
        await crowd().run(inputs=["Atlantis"])
    except LookupError as error:
        told.append(str(error))
    return told


def main():
    return asyncio.run(everything()), crowd().run_sync(inputs=["Bonn"])


if __name__ == "__main__":
    print(json.dumps(main()))
