"""LlamaIndex agents at once, each with several tools in one answer: in a thread, asleep, and at once."""

import asyncio
import os
import time

if os.environ.get("AUTO"):
    import lctl

    lctl.auto_instrument()

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI


def lookup(name: str) -> str:
    """Look something up."""
    time.sleep(0.002)
    return f"{name}: found"


async def price(name: str) -> str:
    """What something costs."""
    await asyncio.sleep(0.001)
    return f"{name}: 3 EUR"


async def stock(name: str) -> str:
    """How many there are."""
    return f"{name}: 7"


def agent(name):
    return FunctionAgent(
        name=name,
        description=name,
        system_prompt=f"You are {name}.",
        llm=OpenAI(model="gpt-4.1-mini", api_base=os.environ["OPENAI_BASE_URL"]),
        tools=[FunctionTool.from_defaults(tool) for tool in (lookup, price, stock)],
        streaming=False,
    )


async def main():
    found = await asyncio.gather(*(agent(name).run(f"Go {name}.") for name in ("Ann", "Bob", "Cid")))
    for one in found:
        print(str(one), [str(call.tool_output) for call in one.tool_calls])


asyncio.run(main())
