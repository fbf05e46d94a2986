"""Tools that are methods of the program's own object, by the framework that `FRAMEWORK` names."""

import asyncio
import json
import os
import threading

from pydantic import BaseModel


class Row(BaseModel):
    name: str
    tags: list[str] = []


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.rows = []
        self.by_name = {}
        self.totals = {"count": 0, "letters": {"sum": 0}}
        self.connection = None

    def add(self, name: str) -> str:
        """Add a row.

        Args:
            name: of the row
        """
        with self.lock:
            self.connection = self.connection or object()  # what no recording can keep
            row = Row(name=name)
            self.rows.append(row)
            self.by_name[name] = row
            self.totals["count"] += 1
            self.totals["letters"]["sum"] += len(name)
            self.rows[0].tags.append(name)
        return f"added {name}"

    def shown(self):
        return [[row.model_dump() for row in self.rows], sorted(self.by_name), self.totals]


ASK = "Add both rows."


def pydantic_ai(ledger):
    from pydantic_ai import Agent

    return Agent("openai-chat:gpt-4.1-mini", tools=[ledger.add]).run_sync(ASK).output


def agents(ledger):
    from agents import Agent, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)
    agent = Agent("clerk", model="gpt-4.1-mini", tools=[function_tool(ledger.add)])
    return Runner.run_sync(agent, ASK).final_output


def langchain(ledger):
    from langchain.agents import create_agent
    from langchain_core.tools import StructuredTool
    from langchain_openai import ChatOpenAI

    tools = [StructuredTool.from_function(ledger.add)]
    agent = create_agent(ChatOpenAI(model="gpt-4.1-mini"), tools)
    return agent.invoke({"messages": [("user", ASK)]})["messages"][-1].content


def agno(ledger):
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat

    return Agent(model=OpenAIChat(id="gpt-4.1-mini"), tools=[ledger.add], telemetry=False).run(ASK).content


def strands(ledger):
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    model = OpenAIModel(model_id="gpt-4.1-mini")
    return str(Agent(model=model, tools=[tool(ledger.add)], callback_handler=None)(ASK))


def agent_framework(ledger):
    from agent_framework import Agent
    from agent_framework.openai import OpenAIChatCompletionClient

    agent = Agent(OpenAIChatCompletionClient(model="gpt-4.1-mini"), tools=[ledger.add])
    return asyncio.run(agent.run(ASK)).text


def haystack(ledger):
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.tools import create_tool_from_function

    agent = Agent(
        chat_generator=OpenAIChatGenerator(model="gpt-4.1-mini"),
        tools=[create_tool_from_function(ledger.add)],
    )
    return agent.run(messages=[ChatMessage.from_user(ASK)])["last_message"].text


def ag2(ledger):
    from ag2 import Agent
    from ag2.config import OpenAIConfig

    agent = Agent("clerk", "Add.", config=OpenAIConfig(model="gpt-4.1-mini"), tools=[ledger.add])
    return asyncio.run(agent.ask(ASK)).body


def autogen(ledger):
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    client = OpenAIChatCompletionClient(model="gpt-4.1-mini")
    agent = AssistantAgent("clerk", client, tools=[ledger.add], max_tool_iterations=5)
    return asyncio.run(agent.run(task=ASK)).messages[-1].content


def llama_index(ledger):
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai import OpenAI

    agent = FunctionAgent(
        tools=[ledger.add], llm=OpenAI(model="gpt-4.1-mini", api_base=os.environ["OPENAI_BASE_URL"])
    )

    async def run():
        return str(await agent.run(ASK))

    return asyncio.run(run())


def main():
    ledger = Ledger()
    answer = globals()[os.environ["FRAMEWORK"]](ledger)
    return [answer, *ledger.shown()]


if __name__ == "__main__":
    print(json.dumps(main()))
