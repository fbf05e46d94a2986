"""AutoGen: an agent with tools, two at once, a swarm that hands off, an agent as a tool, streams; agents
of autogen_core that send each other messages; code that is executed."""

import asyncio
import json
import tempfile
import warnings
from dataclasses import dataclass

from autogen_agentchat.agents import AssistantAgent, CodeExecutorAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.messages import TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from autogen_agentchat.tools import AgentTool
from autogen_core import (
    AgentId,
    CancellationToken,
    FunctionCall,
    MessageContext,
    RoutedAgent,
    SingleThreadedAgentRuntime,
    message_handler,
)
from autogen_core.models import UserMessage
from autogen_core.tool_agent import ToolAgent, ToolException
from autogen_core.tools import FunctionTool
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.code_execution import PythonCodeExecutionTool


async def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


def distance(city: str) -> int:
    """The distance to a city in kilometres."""
    return len(city) * 100


CLIENTS = []


def client():
    made = OpenAIChatCompletionClient(model="gpt-4.1-mini-2025-04-14", include_name_in_message=False)
    CLIENTS.append(made)
    return made


def agent(name, **options):
    return AssistantAgent(
        name, model_client=client(), system_message=f"You are {name}.", description=name, **options
    )


def told(messages):
    return [(type(m).__name__, m.source, m.content if isinstance(m.content, str) else None) for m in messages]


async def alone():
    one, two = [agent("Solo", tools=[weather, distance], reflect_on_tool_use=True) for _ in range(2)]
    found = await asyncio.gather(one.run(task="Scout Rome."), two.run(task="Scout Oslo."))
    return [told(result.messages)[-1] for result in found]


async def swarm():
    guide = agent("Guide", handoffs=["Writer"], tools=[weather])
    writer = agent("Writer")
    team = Swarm([guide, writer], termination_condition=TextMentionTermination("DONE"))
    items = [item async for item in team.run_stream(task="Plan a journey.")]
    return [(type(item).__name__, getattr(item, "source", None)) for item in items]


async def nested():
    helper = AgentTool(agent("Helper"), return_value_as_last_message=True)
    boss = agent("Boss", tools=[helper], model_client_stream=True)
    team = RoundRobinGroupChat([boss, agent("Critic")], termination_condition=MaxMessageTermination(4))
    result = await team.run(task="Ask your helper.")
    return told(result.messages)


@dataclass
class Question:
    text: str


@dataclass
class Answer:
    text: str


class Expert(RoutedAgent):
    def __init__(self):
        super().__init__("An expert.")
        self.client = client()

    @message_handler
    async def answer(self, message: Question, ctx: MessageContext) -> Answer:
        made = await self.client.create([UserMessage(content=message.text, source="user")])
        return Answer(made.content)


class Clerk(RoutedAgent):
    def __init__(self):
        super().__init__("A clerk.")

    @message_handler
    async def ask(self, message: Question, ctx: MessageContext) -> Answer:
        asked = [Question(f"{message.text} {place}") for place in ("Rome?", "Oslo?")]
        found = [await self.send_message(one, AgentId("expert", "default")) for one in asked]
        return Answer(" | ".join(one.text for one in found))


async def core():
    runtime = SingleThreadedAgentRuntime()
    await Expert.register(runtime, "expert", Expert)
    await Clerk.register(runtime, "clerk", Clerk)
    runtime.start()
    answer = await runtime.send_message(Question("What of"), AgentId("clerk", "default"))
    await runtime.stop_when_idle()
    await runtime.close()
    return answer.text


async def by_message():
    """A tool of an agent of autogen_core, with arguments that it refuses, and that it fails of."""
    runtime = SingleThreadedAgentRuntime()
    tools = [FunctionTool(distance, description="Far?"), FunctionTool(weather, description="Fine?")]
    await ToolAgent.register(runtime, "tools", lambda: ToolAgent("Runs tools.", tools))
    runtime.start()
    found = []
    for name, arguments in (("distance", '{"town": "Rome"}'), ("weather", '{"city": "Atlantis"}')):
        try:
            await runtime.send_message(FunctionCall(name, arguments, name), AgentId("tools", "default"))
        except ToolException as error:
            found.append(error.content)
    await runtime.stop_when_idle()
    await runtime.close()
    return found


async def executed():
    """Code that an agent runs, and a tool."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        executor = LocalCommandLineCodeExecutor(work_dir=folder)
        await executor.start()
        runner = CodeExecutorAgent("Runner", code_executor=executor)
        said = TextMessage(content="```python\nprint(6 * 7)\n```", source="user")
        ran = await runner.run(task=said)
        coder = agent("Coder", tools=[PythonCodeExecutionTool(executor)])
        answer = await coder.on_messages([said], CancellationToken())
        await executor.stop()
    return [ran.messages[-1].content, answer.chat_message.content]


async def left():
    """A stream whose result is all that is wanted."""
    async for item in RoundRobinGroupChat([agent("Talker")], max_turns=1).run_stream(task="Talk."):
        if isinstance(item, TaskResult):
            return item.stop_reason


async def everything():
    told = [await alone(), await swarm(), await nested(), await core()]
    told += [await by_message(), await executed(), await left()]
    while CLIENTS:
        await CLIENTS.pop().close()
    return told


def main():
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
