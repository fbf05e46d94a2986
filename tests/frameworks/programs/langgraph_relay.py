"""LangGraph: six nodes side by side, each of which hands the work up to another node of the graph around."""

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

COUNT = 6


def handing(number):
    return lambda state: Command(goto=f"desk{number}", graph=Command.PARENT)


def desk(number):
    return lambda state: {"messages": [("user", f"desk {number}")]}


inner, outer = StateGraph(MessagesState), StateGraph(MessagesState)
for number in range(COUNT):
    inner.add_node(f"hand{number}", handing(number))
    inner.add_edge(START, f"hand{number}")
    outer.add_node(f"desk{number}", desk(number))
outer.add_node("doors", inner.compile(), destinations=tuple(f"desk{n}" for n in range(COUNT)))
outer.add_edge(START, "doors")
print([message.content for message in outer.compile().invoke({"messages": []})["messages"]])
