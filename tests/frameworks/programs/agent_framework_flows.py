"""Agent Framework: workflows of functions, agents and questions, a hand-off, a tool that asks for its context, approval."""

import asyncio
import json
from dataclasses import dataclass

from agent_framework import (
    Agent,
    Executor,
    FunctionInvocationContext,
    Message,
    WorkflowBuilder,
    WorkflowContext,
)
from agent_framework import WorkflowEvent, executor, handler, response_handler, tool
from agent_framework.openai import OpenAIChatCompletionClient


@tool
def weather(city: str, ctx: FunctionInvocationContext) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


@tool(approval_mode="always_require")
async def launch(rocket: str) -> str:
    """Launch a rocket; somebody has to agree."""
    return f"{rocket} launched"


@dataclass
class Sent:
    source: str
    target: str


class Upper(Executor):
    @handler
    async def upper(self, text: str, ctx: WorkflowContext[str]) -> None:
        await ctx.add_event(WorkflowEvent("handoff_sent", data=Sent("upper", "turn")))
        await ctx.send_message(text.upper())


@executor(id="turn")
async def turn(text: str, ctx: WorkflowContext[str, str]) -> None:
    await ctx.yield_output(text[::-1])


class Asks(Executor):
    @handler
    async def ask(self, text: str, ctx: WorkflowContext[str, str]) -> None:
        await ctx.request_info(request_data=text, response_type=str)

    @response_handler
    async def told(self, asked: str, answer: str, ctx: WorkflowContext[str, str]) -> None:
        await ctx.yield_output(f"{asked} {answer}")


def made(name, *tools):
    client = OpenAIChatCompletionClient(model="gpt-4.1")
    return Agent(client=client, name=name, instructions=f"You are {name}.", tools=list(tools))


def agents():
    writer, reviewer = made("writer", weather), made("reviewer")
    return WorkflowBuilder(start_executor=writer).add_edge(writer, reviewer).build()


async def asked():
    flow = WorkflowBuilder(start_executor=Asks(id="asks"), name="question").build()
    waits = (await flow.run("Sure?")).get_request_info_events()
    return (await flow.run(responses={one.request_id: "Yes." for one in waits})).get_outputs()


async def agreed():
    pilot = made("pilot", launch)
    session = pilot.create_session()
    waits = (await pilot.run("Launch it", session=session)).user_input_requests
    answers = [Message("user", [one.to_function_approval_response(True)]) for one in waits]
    return [len(waits), (await pilot.run(answers, session=session)).text]


async def agreed_in_pieces():
    pilot = made("streamer", launch)
    session = pilot.create_session()
    stream = pilot.run("Launch it in pieces", session=session, stream=True)
    waits = [one async for piece in stream for one in piece.user_input_requests]
    answers = [Message("user", [one.to_function_approval_response(True)]) for one in waits]
    again = pilot.run(answers, session=session, stream=True)
    return [len(waits), (await again.get_final_response()).text]


async def everything():
    upper = Upper(id="upper")
    texts = WorkflowBuilder(start_executor=upper, name="texts").add_edge(upper, turn).build()
    results = [(await texts.run("hello")).get_outputs()]
    results.append([str(one) for one in (await agents().run("Weather?")).get_outputs()])
    events = [event.type async for event in agents().run("Weather in pieces?", stream=True)]
    return [*results, len(events) > 5, await asked(), await agreed(), await agreed_in_pieces()]


def main():
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
