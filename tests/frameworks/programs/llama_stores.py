"""LlamaIndex: tools of one answer that edit the store as a whole, put objects in it and take from it; the agent's
memory, which the program keeps; an agent that is asked for tools in words. With AUTO in the environment it
records itself."""

import asyncio
import os
from datetime import date

from pydantic import BaseModel

if "AUTO" in os.environ:
    import lctl

    lctl.auto_instrument()

from llama_index.core.agent.workflow import FunctionAgent, ReActAgent, ToolCallResult
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.workflow import Context
from llama_index.llms.openai import OpenAI


class Item(BaseModel):
    name: str
    wanted: date


async def add(ctx: Context, name: str) -> str:
    """Put something in the basket."""
    async with ctx.store.edit_state() as state:
        state["state"]["basket"].append(name)
    return f"{name} added"


async def keep(ctx: Context, name: str) -> str:
    """Keep something for later."""
    kept = await ctx.store.get("kept", default=[])
    kept.append(Item(name=name, wanted=date(2026, 1, 2)))
    await ctx.store.set("kept", kept)
    await ctx.store.set("draft.text", name)
    return f"{name} kept"


async def tidy(ctx: Context) -> str:
    """Throw the draft away, in a way that there is not: the edit is none."""
    async with ctx.store.edit_state() as state:
        del state["draft"]
    return "tidy"


async def drop(ctx: Context) -> str:
    """Throw the draft away."""
    async with ctx.store.edit_state() as state:
        state._data.pop("draft")
    return "dropped"


async def main():
    llm = OpenAI(model="gpt-4.1-mini", api_base=os.environ["OPENAI_BASE_URL"])
    agent = FunctionAgent(
        name="Shop",
        llm=llm,
        tools=[add, keep, tidy, drop],
        initial_state={"basket": []},
        system_prompt="You sell.",
    )
    ctx, memory = Context(agent), ChatMemoryBuffer.from_defaults(token_limit=4000)
    for task in ("Buy tea and oil.", "Keep tea.", "Tidy up.", "Drop it."):
        handler = agent.run(task, ctx=ctx, memory=memory)
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                print(event.tool_name, event.tool_output.content)
        print(await handler, len(memory.get_all()), (await ctx.store.get_state()).keys())
    print(await ctx.store.get("state"), await ctx.store.get("kept"))
    thinker = ReActAgent(name="Thinker", llm=llm, tools=[add], initial_state={"basket": []})
    print(await thinker.run("Add rice."))


asyncio.run(main())
