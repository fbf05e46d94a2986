"""LangGraph: branches in threads, of `Send` and of several tool calls at once, recorded by `auto_instrument()` alone."""

import operator
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send

import lctl

lctl.auto_instrument()


class State(TypedDict):
    topics: list[str]
    notes: Annotated[list[str], operator.add]


@tool
def look(topic: str) -> str:
    """Look a topic up."""
    return topic.upper()


@tool
def count(topic: str) -> int:
    """Count its letters."""
    return len(topic)


def note(state):
    return {"notes": [f"{look.invoke(state)} {count.invoke(state)}"]}


def quote(state):
    return {"notes": [repr(state["topic"])]}


def branches(state):
    return [Send(name, {"topic": topic}) for topic in state["topics"] for name in ("note", "quote")]


def ask(state):
    calls = [{"name": "look", "args": {"topic": topic}, "id": topic} for topic in ("ab", "cde", "f", "gh")]
    return {"messages": [AIMessage("", tool_calls=calls)]}


def calls_of(state):
    return [Send("tools", [call]) for call in state["messages"][-1].tool_calls]


fan = StateGraph(State)
fan.add_node("note", note)
fan.add_node("quote", quote)
fan.add_conditional_edges(START, branches, ["note", "quote"])
fan = fan.compile(name="fan")

desk = StateGraph(MessagesState)
desk.add_node("ask", ask)
desk.add_node("tools", ToolNode([look]))
desk.add_edge(START, "ask")
desk.add_conditional_edges("ask", calls_of, ["tools"])
desk = desk.compile(name="desk")

for _ in range(3):
    print(fan.invoke({"topics": ["ab", "cde", "f", "ghij"], "notes": []})["notes"])
    print([message.content for message in desk.invoke({"messages": []})["messages"]])
