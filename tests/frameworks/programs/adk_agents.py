"""ADK: an agent as a tool, a transfer, agents after, beside and around one another, a workflow of functions, tools that
change the session's state, fail, wait for the user's word or are cut off."""

import asyncio
import json
import warnings

from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.agents.run_config import RunConfig, StreamingMode, ToolThreadPoolConfig
from google.adk.apps.app import App
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool, ToolContext
from google.adk.tools.agent_tool import AgentTool
from google.adk.workflow import START, Workflow
from google.genai import types

warnings.filterwarnings("ignore")
STARTED = asyncio.Event()


def weather(city: str) -> str:
    """The weather in a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"sunny in {city}"


async def visit(city: str, tool_context: ToolContext) -> dict:
    """Visit a city."""
    tool_context.state["seen"] = [*tool_context.state.get("seen", []), city]
    return {"visited": city}


def pay(amount: int) -> dict:
    """Pay."""
    return {"paid": amount}


def enough(tool_context: ToolContext) -> dict:
    """End the loop."""
    tool_context.actions.escalate = True
    return {"enough": True}


async def wait(reason: str) -> str:
    """Wait."""
    STARTED.set()
    await asyncio.sleep(3600)
    return reason


def agent(name, *tools, **options):
    return LlmAgent(
        name=name,
        model="gemini-2.5-flash",
        description=name,
        instruction=f"You are {name}.",
        tools=list(tools),
        **options,
    )


class Chat:
    def __init__(self, root):
        app = App(name="app", root_agent=root)
        self.runner, self.name, self.asked = InMemoryRunner(app=app), root.name, []

    async def say(self, *parts, **config):
        sessions, ids = self.runner.session_service, {"user_id": "u", "session_id": self.name}
        if await sessions.get_session(app_name="app", **ids) is None:
            await sessions.create_session(app_name="app", **ids)
        told = []
        message = types.Content(role="user", parts=list(parts) or [types.Part(text="Go.")])
        async for event in self.runner.run_async(new_message=message, run_config=RunConfig(**config), **ids):
            waits = event.long_running_tool_ids or ()
            self.asked += [call for call in event.get_function_calls() if call.id in waits]
            for part in event.content.parts if event.content and not event.partial else ():
                if part.text:
                    told.append([event.author, part.text])
            if event.output is not None:
                told.append(event.output)
        session = await sessions.get_session(app_name="app", **ids)
        return [*told, {name: sorted(seen) for name, seen in session.state.items() if name == "seen"}]


async def agreed():
    chat = Chat(agent("payer", FunctionTool(pay, require_confirmation=True), weather))
    told = await chat.say()
    for call in chat.asked:
        answer = types.FunctionResponse(id=call.id, name=call.name, response={"confirmed": True})
        told += await chat.say(types.Part(function_response=answer))
    return told


async def failing():
    try:
        await Chat(agent("sailor", weather)).say()
    except LookupError as error:
        return str(error)


async def cut():
    task = asyncio.create_task(Chat(agent("waiter", wait)).say())
    await STARTED.wait()
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return "cut"


def letters(node_input):
    return "abc"


def upper(node_input):
    return str(node_input).upper()


async def everything():
    expert = agent("expert", weather, visit)
    told = [await Chat(agent("boss", AgentTool(expert), weather)).say()]
    told.append(await Chat(agent("lead", sub_agents=[agent("helper", weather)])).say())
    beside = ParallelAgent(name="beside", sub_agents=[agent("left", visit), agent("right", visit)])
    last = LoopAgent(name="again", max_iterations=3, sub_agents=[agent("ender", enough)])
    flow = SequentialAgent(name="flow", sub_agents=[agent("first", output_key="said"), beside, last])
    told.append(sorted(map(str, await Chat(flow).say())))
    told.append(await Chat(Workflow(name="work", edges=[(START, letters), (letters, upper)])).say())
    told.append(await Chat(agent("teller", weather)).say(streaming_mode=StreamingMode.SSE))
    told.append(await Chat(agent("pool", weather)).say(tool_thread_pool_config=ToolThreadPoolConfig()))
    return [*told, await agreed(), await failing(), await cut()]


def main():
    global STARTED
    STARTED = asyncio.Event()
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
