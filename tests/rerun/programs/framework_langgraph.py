"""LangGraph: two nodes in one superstep, a reducer, a checkpointer with threads, an interrupt resumed."""

import asyncio
import operator
from typing import Annotated, TypedDict

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt

model = ChatOpenAI(model="gpt-4.1-mini")


class State(TypedDict):
    task: str
    notes: Annotated[list, operator.add]
    verdict: str


def plan(state):
    return {"notes": [model.invoke(f"Plan {state['task']}").content]}


def spread(state):
    return [Send("research", {"task": f"{state['notes'][0]} part {n}"}) for n in range(3)]


def research(state):
    return {"notes": [model.invoke(f"Research {state['task']}").content]}


def critic(state):
    return {"notes": [model.invoke("Criticise the plan").content]}


def review(state):
    answer = interrupt({"notes": len(state["notes"])})
    return {"verdict": model.invoke(f"{answer}: {' '.join(state['notes'])}").content}


graph = StateGraph(State)
for node in (plan, research, critic, review):
    graph.add_node(node.__name__, node)
graph.add_edge(START, "plan")
graph.add_conditional_edges("plan", spread, ["research"])
graph.add_edge("plan", "critic")
graph.add_edge(["research", "critic"], "review")
graph.add_edge("review", END)
app = graph.compile(checkpointer=InMemorySaver())


def sync(thread):
    config = {"configurable": {"thread_id": thread}}
    paused = app.invoke({"task": "a bridge", "notes": []}, config)
    print(paused["notes"], [one.value for one in paused["__interrupt__"]])
    print(app.invoke(Command(resume="accepted"), config)["verdict"])
    print(len(list(app.get_state_history(config))))


async def one(thread):
    config = {"configurable": {"thread_id": thread}}
    await app.ainvoke({"task": "a tunnel", "notes": []}, config)
    return await app.ainvoke(Command(resume="refused"), config)


async def main():
    for state in await asyncio.gather(*[one(f"thread-{n}") for n in range(3)]):
        print(state["notes"], state["verdict"])


sync("first")
asyncio.run(main())
