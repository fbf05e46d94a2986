"""LangChain and LangGraph: messages, snapshots and events printed whole, with the ids and times they bear; a
supervisor whose hand-offs carry the whole state; messages that are removed from a history."""

import asyncio
from typing import Annotated

from langchain.agents import create_agent
from langchain_core.messages import RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, interrupt

model = ChatOpenAI(model="gpt-4.1")


def handoff(name):
    @tool(f"to_{name}")
    def hand_over(state: Annotated[dict, InjectedState], call: Annotated[str, InjectedToolCallId]) -> Command:
        """Let somebody else go on."""
        told = ToolMessage(f"now {name}", tool_call_id=call)
        return Command(
            goto=name, graph=Command.PARENT, update={**state, "messages": [*state["messages"], told]}
        )

    return hand_over


def supervise():
    graph = StateGraph(MessagesState)
    graph.add_node("chief", create_agent(model, [handoff("ann"), handoff("bob")], name="chief"))
    for name in ("ann", "bob"):
        graph.add_node(name, create_agent(model, [], system_prompt=name, name=name))
        graph.add_edge(name, "chief")
    graph.add_edge(START, "chief")
    return graph.compile()


def ask(state):
    return {"messages": [model.invoke(state["messages"])]}


def confirm(state):
    return {"messages": [("user", interrupt("is it right?"))]}


def asking_and(then):
    graph = StateGraph(MessagesState)
    graph.add_node(ask)
    graph.add_node(then)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", then.__name__)
    graph.add_edge(then.__name__, END)
    return graph.compile(checkpointer=InMemorySaver())


def forget(state):
    return {"messages": [RemoveMessage(id=message.id) for message in state["messages"][:-2]]}


async def events(app, thread):
    async for event in app.astream_events({"messages": [("user", "more")]}, thread, version="v2"):
        print(event)


def main():
    print(model.invoke("hi"))
    for piece in model.stream("bit by bit"):
        print(repr(piece))
    for message in supervise().invoke({"messages": [("user", "both, please")]})["messages"]:
        print(repr(message))
    app, thread = asking_and(confirm), {"configurable": {"thread_id": "1"}}
    for part in app.stream({"messages": [("user", "go")]}, thread, stream_mode=["debug", "updates"]):
        print(part)
    print(app.get_state(thread))
    print(app.invoke(Command(resume="yes"), thread))
    for snapshot in app.get_state_history(thread):
        print(snapshot)
    app, thread = asking_and(forget), {"configurable": {"thread_id": "3"}}
    for text in ("one", "two"):
        print(app.invoke({"messages": [("user", text)]}, thread))
    last = app.get_state(thread).values["messages"][0]
    app.update_state(thread, {"messages": [RemoveMessage(id=last.id)]})
    print(app.get_state(thread).values)
    asyncio.run(events(app, {"configurable": {"thread_id": "2"}}))


main()
