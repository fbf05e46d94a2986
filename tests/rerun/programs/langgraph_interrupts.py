"""LangGraph: two branches that ask at once, answered by the ids of their questions, which the library makes."""

import operator
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

import lctl

lctl.auto_instrument()


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def asking(name):
    def ask(state):
        return {"said": [f"{name} {interrupt({'sure': name})}"]}

    return ask


graph = StateGraph(State)
for name in ("left", "right"):
    graph.add_node(name, asking(name))
    graph.add_edge(START, name)
graph = graph.compile(checkpointer=InMemorySaver(), name="desk")
config = {"configurable": {"thread_id": "1"}}
graph.invoke({"said": []}, config)
questions = graph.get_state(config).interrupts
answers = {question.id: f"yes to {question.value['sure']}" for question in questions}
print(graph.invoke(Command(resume=answers), config)["said"])
