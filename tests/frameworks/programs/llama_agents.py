"""LlamaIndex: an agent with tools, two at once, agents that hand off, a stream, a workflow of one's own, a
tool that asks a human, queries whose answers are streamed."""

import asyncio
import json
import os

from llama_index.core import Document, SummaryIndex
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.agent.workflow import AgentStream, AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import (
    Context,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    step,
)
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


class Progress(Event):
    note: str


async def remove(ctx: Context, what: str) -> str:
    """Remove something, if a human says so."""
    ctx.write_event_to_stream(Progress(note=f"removing {what}"))
    tries = await ctx.store.get("tries", default=[])
    tries.append(what)
    await ctx.store.set("tries", tries)
    question = InputRequiredEvent(prefix=f"Remove {what}?")
    answer = await ctx.wait_for_event(HumanResponseEvent, question, "remove", {"user": "Ann"})
    if answer.response != "yes":
        raise PermissionError(answer.response)
    return f"removed {what}"


async def asked(keeper, task):
    """What the stream of a run has that waits for a human, its state after it, and whether any still waits."""
    ctx = Context(keeper)
    handler, heard = keeper.run(task, ctx=ctx), []
    async for event in handler.stream_events():
        if isinstance(event, Progress):
            heard.append(event.note)
        elif isinstance(event, InputRequiredEvent):
            heard.append(event.prefix)
            answer = "no" if "Oslo" in event.prefix else "yes"
            handler.ctx.send_event(HumanResponseEvent(response=answer, user="Ann"))
    said = str(await handler)
    return said, heard, await ctx.store.get("tries"), "Remove" in json.dumps(ctx.to_dict()["workers"])


async def left_alone():
    """A run that is cancelled while it waits, and gone on with in another context."""
    workflow = Question()
    handler = workflow.run()
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            break
    kept = handler.ctx.to_dict()
    await handler.cancel_run()
    handler = workflow.run(ctx=Context.from_dict(workflow, kept))
    handler.ctx.send_event(HumanResponseEvent(response="Bob"))
    return await handler


class Question(Workflow):
    @step
    async def ask(self, ev: StartEvent) -> InputRequiredEvent:
        return InputRequiredEvent(prefix="Who?")

    @step
    async def greet(self, ev: HumanResponseEvent) -> StopEvent:
        return StopEvent(result=f"Hello {ev.response}.")


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
    keeper = agent("Keeper", tools=[remove], streaming=False)
    told.append([await asked(keeper, task) for task in ("Remove Rome.", "Remove Oslo.")])
    told.append(await left_alone())
    return told


def chatted():
    engine = SimpleChatEngine.from_defaults(llm=llm())
    return [str(engine.chat("Hello.")), str(asyncio.run(engine.achat("And now?")))]


def queried():
    """What a query streams: read by the response, by the program, never read."""
    index = SummaryIndex.from_documents([Document(text="Rome is in Italy.")])
    engine = index.as_query_engine(llm=llm(), streaming=True)
    told = [str(engine.query("Where is Rome?")), "".join(engine.query("Is it?").response_gen)]
    engine.query("Unread?")

    async def read():
        found = await index.as_query_engine(llm=llm(), streaming=True, use_async=True).aquery("And now?")
        return [piece async for piece in found.async_response_gen()]

    return told, asyncio.run(read())


def main():
    return [str(llm().complete("Say something.")), asyncio.run(everything()), chatted(), queried()]


if __name__ == "__main__":
    print(json.dumps(main()))
