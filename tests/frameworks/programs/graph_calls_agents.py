"""Two frameworks in one process: a LangGraph node and a LangChain tool call OpenAI Agents SDK agents."""

import asyncio
import json

from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from openai import AsyncOpenAI

set_default_openai_client(AsyncOpenAI())
set_tracing_disabled(True)

LOOP = asyncio.new_event_loop()  # langchain-openai keeps its client for as long as the process lives


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


def graph():
    expert = Agent(name="expert", instructions="Know.", tools=[weather], model="gpt-4.1-mini")

    @tool
    async def ask_expert(question: str) -> str:
        """Ask the expert."""
        return (await Runner.run(expert, question)).final_output

    boss = create_agent(ChatOpenAI(model="gpt-4.1-mini"), [ask_expert], name="boss")

    async def check(state):
        return {"messages": [("assistant", (await Runner.run(expert, "Check it")).final_output)]}

    made = StateGraph(MessagesState)
    made.add_node("boss", boss)
    made.add_node("check", check)
    made.add_edge(START, "boss")
    made.add_edge("boss", "check")
    return made.compile(name="both")


def main():
    async def run():
        state = await graph().ainvoke({"messages": [("user", "Is it sunny?")]})
        return [(message.type, message.content) for message in state["messages"]]

    return LOOP.run_until_complete(run())


if __name__ == "__main__":
    print(json.dumps(main()))
