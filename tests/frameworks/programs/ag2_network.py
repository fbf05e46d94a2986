"""ag2's network: a chief who looks who is there, opens a channel to one agent and lets two work."""

from __future__ import annotations

import asyncio
import json
import re

from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.knowledge import MemoryKnowledgeStore
from ag2.network import Hub

config = OpenAIConfig(model="gpt-4.1")


async def everything():
    hub = await Hub.open(MemoryKnowledgeStore())
    for name in ("Ann", "Bob"):
        await hub.register(Agent(name, f"You are {name}.", config=config))
    chief = await hub.register(Agent("Chief", "You are Chief.", config=config))
    answer = (await chief.agent.ask("Let them work.")).body
    await hub.close()
    return re.sub("[0-9a-f]{32}", "(id)", str(answer))


def main():
    return asyncio.run(everything())


if __name__ == "__main__":
    print(json.dumps(main()))
