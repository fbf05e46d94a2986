"""LangGraph: a retried node, a subgraph, a hand-off, an interrupt that is resumed, checkpoints, streams."""

import asyncio
import json
import operator
from typing import Annotated, TypedDict

from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, RetryPolicy, interrupt

LOOP = asyncio.new_event_loop()  # langchain-openai keeps its client for as long as the process lives


class State(TypedDict):
    notes: Annotated[list, operator.add]
    verdict: str


class Inner(TypedDict):
    draft: str


def review_board():
    model = ChatOpenAI(model="gpt-4.1-mini")
    attempts = []

    def collect(state):
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("the archive is closed")
        return {"notes": ["archive"]}

    def write(state):
        return {"draft": model.invoke("Write a draft").content}

    def draft(state):
        return {"notes": [writer.invoke({"draft": ""})["draft"]]}

    def route(state):
        return Command(goto="review", update={"notes": ["routed"]})

    def review(state):
        answer = interrupt({"question": "Good?"})
        return {"verdict": model.invoke(f"Judge: {answer}").content}

    inner = StateGraph(Inner)
    inner.add_node("write", write)
    inner.add_edge(START, "write")
    writer = inner.compile(name="writer")
    outer = StateGraph(State)
    retry = RetryPolicy(initial_interval=0.01, jitter=False, max_attempts=3, retry_on=ConnectionError)
    outer.add_node("collect", collect, retry_policy=retry)
    outer.add_node("draft", draft)
    outer.add_node("route", route, destinations=("review",))
    outer.add_node("review", review)
    outer.add_edge(START, "collect")
    outer.add_edge("collect", "draft")
    outer.add_edge("draft", "route")
    return outer.compile(checkpointer=InMemorySaver(), name="board")


@tool
def transfer_to_bob(
    state: Annotated[dict, InjectedState], tool_call_id: Annotated[str, InjectedToolCallId]
) -> Command:
    """Hand over to Bob."""
    told = ToolMessage("transferred", tool_call_id=tool_call_id)
    return Command(goto="bob", graph=Command.PARENT, update={"messages": [*state["messages"], told]})


@tool
def launch(rocket: str) -> str:
    """Launch a rocket; somebody has to agree."""
    return f"{rocket}: {interrupt({'launch': rocket})}"


def swarm():
    model = ChatOpenAI(model="gpt-4.1-mini")
    graph = StateGraph(MessagesState)
    graph.add_node("alice", create_agent(model, [transfer_to_bob], name="alice"), destinations=("bob",))
    graph.add_node("bob", create_agent(model, [launch], name="bob"))
    graph.add_edge(START, "alice")
    return graph.compile(checkpointer=InMemorySaver(), name="swarm")


def main():
    results = []
    board, config = review_board(), {"configurable": {"thread_id": "one"}}
    paused = board.invoke({"notes": []}, config)
    results.append([paused["notes"], [one.value for one in paused["__interrupt__"]]])
    results.append(board.invoke(Command(resume="yes"), config)["verdict"])
    board.update_state(config, {"notes": ["by hand"]}, as_node="review")
    results.append(len(list(board.get_state_history(config))))

    async def run():
        team, config = swarm(), {"configurable": {"thread_id": "two"}}
        paused = await team.ainvoke({"messages": [("user", "Launch it")]}, config)
        results.append([one.value for one in paused["__interrupt__"]])
        async for space, update in team.astream(Command(resume="go"), config, subgraphs=True):
            results.append([[part.partition(":")[0] for part in space], sorted(update)])
        results.append((await team.aget_state(config)).values["messages"][-1].content)

    LOOP.run_until_complete(run())
    return results


if __name__ == "__main__":
    print(json.dumps(main()))
