"""LangGraph: tools that ask a model, and agents with tools of their own; tokens and updates of all are streamed."""

import asyncio
import json

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

LOOP = asyncio.new_event_loop()  # langchain-openai keeps its client for as long as the process lives
MODEL = ChatOpenAI(model="gpt-4.1-mini")
TASK = {"messages": [("user", "Plan a journey.")]}


@tool
def translate(text: str) -> str:
    """Translate something."""
    return MODEL.invoke(f"In Latin: {text}").content


@tool
def ask_guide(question: str) -> str:
    """Ask the guide."""
    return guide.invoke({"messages": [("user", question)]})["messages"][-1].content


@tool
async def ask_scout(question: str) -> str:
    """Ask the scout."""
    return (await guide.ainvoke({"messages": [("user", question)]}))["messages"][-1].content


guide = create_agent(MODEL, [translate], name="guide")
boss = create_agent(MODEL, [translate, ask_guide], name="boss")
chief = create_agent(MODEL, [ask_scout], name="chief")


def shown(space, mode, chunk):
    names = [part.partition(":")[0] for part in space]
    if mode != "messages":
        return names, mode, sorted(chunk)
    message, meta = chunk
    return names, type(message).__name__, message.content, meta["langgraph_node"]


def main():
    results = [[message.content for message, _ in boss.stream(TASK, stream_mode="messages")]]
    modes = ["messages", "updates"]
    places = set()
    for space, mode, chunk in boss.stream(TASK, stream_mode=modes, subgraphs=True):
        results.append(shown(space, mode, chunk))
        places.add(space[:1])
    results.append(len(places))  # the graph itself, and where one of its tools asked the guide

    async def run():
        async for space, mode, chunk in chief.astream(TASK, stream_mode=modes, subgraphs=True):
            results.append(shown(space, mode, chunk))

    LOOP.run_until_complete(run())
    return results


if __name__ == "__main__":
    print(json.dumps(main()))
