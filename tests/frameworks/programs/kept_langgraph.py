"""LangGraph: checkpoints in a database, by `sqlite3` and by `aiosqlite`, that the next run goes on from."""

import asyncio
import sqlite3
from typing import Any

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

model = ChatOpenAI(model="gpt-4.1-mini")


async def ask(state: MessagesState) -> dict[str, Any]:
    return {"messages": [await model.ainvoke(state["messages"])]}


def ask_now(state: MessagesState) -> dict[str, Any]:
    return {"messages": [model.invoke(state["messages"])]}


def graph(node: Any) -> Any:
    made = StateGraph(MessagesState)
    made.add_node("ask", node)
    made.add_edge(START, "ask")
    return made


async def main(thread: Any) -> None:
    async with AsyncSqliteSaver.from_conn_string("kept.db") as saver:
        app = graph(ask).compile(checkpointer=saver)
        for text in ("hello", "again"):
            print((await app.ainvoke({"messages": [("user", text)]}, thread))["messages"][-1].content)


asyncio.run(main({"configurable": {"thread_id": "tasks"}}))
app = graph(ask_now).compile(checkpointer=SqliteSaver(sqlite3.connect("kept.db", check_same_thread=False)))
found = app.invoke({"messages": [("user", "once more")]}, {"configurable": {"thread_id": "threads"}})
print(len(found["messages"]), found["messages"][-1].content)
