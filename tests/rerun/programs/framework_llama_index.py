"""LlamaIndex agents whose models stream, and call several asynchronous tools of a few milliseconds at once: their
results come while the loop still starts the others."""

import asyncio
import os
import sys

if "auto" in sys.argv:
    import lctl

    lctl.auto_instrument()

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI


def tool(n):
    async def look(place: str) -> str:
        await asyncio.sleep((0.3, 3, 1, 2, 4)[n % 5] / 1000)
        return f"{place} is fine ({n})"

    look.__name__, look.__doc__ = f"look_{n}", "Look at a place."
    return look


def agent(name):
    llm = OpenAI(model="gpt-4.1-mini", temperature=0.0, api_base=os.environ["OPENAI_BASE_URL"])
    prompt = f"You are {name}. Look at everything."
    return FunctionAgent(name=name, system_prompt=prompt, tools=[tool(n) for n in range(8)], llm=llm)


async def main():
    for _ in range(2):
        found = await asyncio.gather(*[agent(f"Agent{n}").run("Look around.") for n in range(3)])
        print([str(one) for one in found])


asyncio.run(main())
