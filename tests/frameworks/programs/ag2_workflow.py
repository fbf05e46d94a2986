"""ag2's network: a workflow that a tool hands over, one that its graph does by the tool, and a tool that ends it."""

import asyncio
import json

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.knowledge import MemoryKnowledgeStore
from ag2.network import (
    WORKFLOW_TYPE,
    AgentTarget,
    Finish,
    FromSpeaker,
    Handoff,
    Hub,
    ToolCalled,
    Transition,
    TransitionGraph,
)

config = OpenAIConfig(model="gpt-4.1-mini")


def route(query: str) -> Handoff:
    """Finds who can do it."""
    return Handoff(target="Clerk", reason="by load")


def escalate(reason: str) -> str:
    """Asks for a decision."""
    return "escalated"


def finish(summary: str) -> Finish:
    """Ends it."""
    return Finish(summary=summary)


TOOLS = {"Boss": [], "Triage": [route], "Clerk": [escalate], "Chief": [finish]}


async def everything():
    hub = await Hub.open(MemoryKnowledgeStore())
    clients = {
        name: await hub.register(Agent(name, f"You are {name}.", config=config, tools=tools))
        for name, tools in TOOLS.items()
    }
    ids = {name: client.agent_id for name, client in clients.items()}
    graph = TransitionGraph(
        initial_speaker=ids["Boss"],
        transitions=[
            Transition(when=FromSpeaker(ids["Boss"]), then=AgentTarget(ids["Triage"])),
            Transition(when=ToolCalled("escalate"), then=AgentTarget(ids["Chief"])),
        ],
    )
    channel = await clients["Boss"].open(
        type=WORKFLOW_TYPE, target=["Triage", "Clerk", "Chief"], knobs={"graph": graph.to_dict()}
    )
    await channel.send("A bill.")
    while not (await channel.info()).is_terminal():
        await asyncio.sleep(0.05)
    said = [hub.name_for(one.sender_id) for one in await hub.read_wal(channel.channel_id)]
    await hub.close()
    return said[-3:]


def main():
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
