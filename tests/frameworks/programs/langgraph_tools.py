"""LangGraph: tools that write into the stream, put into the store and send to a node; tasks of the functional API."""

import asyncio
import json
from dataclasses import asdict, dataclass, field
from typing import Annotated

from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store, get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, RetryPolicy, Send, interrupt

LOOP = asyncio.new_event_loop()  # langchain-openai keeps its client for as long as the process lives
MEMORIES = ("memories",)


@dataclass
class Visit:
    """The context of a run, which its tools write into."""

    guest: str
    calls: int = 0
    seen: dict[str, list[str]] = field(default_factory=dict)


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    write = get_stream_writer()
    for part in range(2):
        write({"looking at": city, "part": part})
    return f"Sunny in {city}."


@tool
def remember(what: str, runtime: ToolRuntime[Visit]) -> str:
    """Remember something."""
    runtime.context.calls += 1
    runtime.context.seen.setdefault(runtime.context.guest, []).append(what)
    runtime.stream_writer(f"remembering {what}")
    runtime.store.put(MEMORIES, what, {"text": what})
    return "remembered"


@tool
async def recall(what: str) -> str:
    """Remember it and forget what was remembered before."""
    get_stream_writer()(("recalling", what))
    await get_store().aput(MEMORIES, what, {"text": what})
    await get_store().adelete(MEMORIES, "rivers")
    return "recalled"


@tool
def shelve(title: str, runtime: ToolRuntime) -> str:
    """Shelve a book."""
    runtime.store.put(MEMORIES, title, {"title": title})
    return "shelved"


@tool
def launch(rocket: str) -> str:
    """Launch a rocket; somebody has to agree."""
    get_stream_writer()(f"may {rocket} fly?")
    answer = interrupt({"launch": rocket})
    get_stream_writer()(f"{rocket} {answer}")
    return f"{rocket}: {answer}"


@tool
def send_to_desk(
    job: str,
    state: Annotated[dict, InjectedState],
    tool_call_id: Annotated[str, InjectedToolCallId],
) -> Command:
    """Send the work to the desk."""
    told = ToolMessage("sent", tool_call_id=tool_call_id)
    return Command(
        goto=[Send("desk", {"messages": [("user", job)]})],
        graph=Command.PARENT,
        update={"messages": [*state["messages"], told]},
    )


@dynamic_prompt
def prompt(request):
    known = request.runtime.store.search(MEMORIES)
    return f"Known: {sorted(item.key for item in known)}."


def asked(text):
    return {"messages": [("user", text)]}


def agents(model, results):
    store, config = InMemoryStore(), {"configurable": {"thread_id": "one"}}
    guide = create_agent(
        model, [weather, remember], middleware=[prompt], store=store, name="guide", context_schema=Visit
    )
    visit = Visit("Ann")
    results.append(list(guide.stream(asked("Where is it sunny?"), stream_mode="custom", context=visit)))
    results.append(guide.invoke(asked("And now?"), context=visit)["messages"][-1].content)
    results.append(asdict(visit))
    pilot = create_agent(model, [launch], checkpointer=InMemorySaver(), name="pilot")
    results.append(list(pilot.stream(asked("Fly."), config, stream_mode="custom")))
    results.append(list(pilot.stream(Command(resume="yes"), config, stream_mode="custom")))
    return create_agent(model, [weather, recall], middleware=[prompt], store=store, name="guide")


def library(model):
    """A store that is searched by meaning."""
    embeddings = OpenAIEmbeddings(model="text-embedding-3-small", check_embedding_ctx_length=False)
    store = InMemoryStore(index={"embed": embeddings, "dims": 1536})
    create_agent(model, [shelve], store=store, name="library").invoke(asked("Shelve it."))
    return [(item.key, round(item.score, 6)) for item in store.search(MEMORIES, query="tea")]


def office(model):
    graph = StateGraph(MessagesState)
    graph.add_node("door", create_agent(model, [send_to_desk], name="door"), destinations=("desk",))
    graph.add_node("desk", create_agent(model, [], name="desk"))
    graph.add_edge(START, "door")
    return graph.compile(name="office")


def essays(model):
    tries = []

    @task
    def draft(topic):
        return model.invoke(f"Draft {topic}").content

    @task(
        retry_policy=RetryPolicy(
            initial_interval=0.01, jitter=False, max_attempts=3, retry_on=ConnectionError
        )
    )
    def stamp(text):
        tries.append(text)
        if len(tries) < 3:
            raise ConnectionError("no ink")
        return f"{text}!"

    @entrypoint(checkpointer=InMemorySaver())
    def essay(topics):
        drafts = [one.result() for one in [draft(topic) for topic in topics]]
        stamps = [one.result() for one in [stamp(str(number)) for number in range(4)]]
        return {"drafts": drafts, "stamps": stamps, "verdict": interrupt({"drafts": len(drafts)})}

    return essay


@entrypoint(checkpointer=InMemorySaver())
def following(number):
    return number + 1


def main():
    model, results = ChatOpenAI(model="gpt-4.1-mini"), []
    guide = agents(model, results)
    results.append(library(model))
    results.append([m.content for m in office(model).invoke(asked("A letter."))["messages"]])
    essay, config = essays(model), {"configurable": {"thread_id": "two"}}
    paused = essay.invoke(["a", "b", "c"], config)
    results.append([one.value for one in paused["__interrupt__"]])
    results.append(essay.invoke(Command(resume="good"), config))
    # Over at once: sooner than the graph that started it looks, or later.
    results.append([following.invoke(n, {"configurable": {"thread_id": str(n)}}) for n in range(8)])

    async def run():
        async for chunk in guide.astream(asked("What do you know?"), stream_mode="custom"):
            results.append(chunk)
        results.append((await guide.ainvoke(asked("And now?")))["messages"][-1].content)
        results.append([m.content for m in await asyncio.gather(*(model.ainvoke(w) for w in ("One", "Two")))])

    LOOP.run_until_complete(run())
    return results


if __name__ == "__main__":
    print(json.dumps(main()))
