"""LlamaIndex: an agent with tools, two at once, agents that hand off, a stream, a workflow of one's own."""

import asyncio
import json
import os

from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from llama_index.llms.openai import OpenAI


def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


async def note(ctx: Context, text: str) -> str:
    """Note something down."""
    async with ctx.store.edit_state() as state:
        state["state"]["notes"] = [*state["state"].get("notes", []), text]
    return "noted"


def llm():
    return OpenAI(model="gpt-4.1-mini", temperature=0.0, api_base=os.environ["OPENAI_BASE_URL"])


def agent(name, kind=FunctionAgent, **options):
    return kind(name=name, description=name, system_prompt=f"You are {name}.", llm=llm(), **options)


def solo():
    return agent("Solo", tools=[FunctionTool.from_defaults(weather)], streaming=False)


def team(**options):
    guide = agent("Guide", tools=[note], can_handoff_to=["Writer"], **options)
    writer = agent("Writer", can_handoff_to=[], **options)
    return AgentWorkflow(agents=[guide, writer], root_agent="Guide", initial_state={"notes": []})


class Journey(Workflow):
    @step
    async def plan(self, ev: StartEvent) -> StopEvent:
        answer = await llm().acomplete(f"Plan {ev.place}.")
        checked = await solo().run(user_msg=f"Check {ev.place}.")
        return StopEvent(result=f"{answer} / {checked}")


async def everything():
    found = await asyncio.gather(solo().run("Scout Rome."), solo().run("Scout Oslo."))
    told = [(str(result), len(result.tool_calls)) for result in found]
    workflow = team(streaming=False)
    ctx = Context(workflow)
    told.append((str(await workflow.run("Plan a journey.", ctx=ctx)), await ctx.store.get("state")))
    handler = team(streaming=True).run("Stream a journey.")
    streamed = [event async for event in handler.stream_events() if isinstance(event, AgentStream)]
    told.append([(event.current_agent_name, event.delta) for event in streamed])
    told.append(str(await handler))
    thinker = agent("Thinker", ReActAgent, tools=[weather], streaming=False)
    told.append(str(await thinker.run("Think of Rome.")))
    told.append(await Journey(timeout=60).run(place="Rome"))
    return told


def main():
    return [str(llm().complete("Say something.")), asyncio.run(everything())]


if __name__ == "__main__":
    print(json.dumps(main()))
