"""Agno: agents whole and in pieces, sync and async, tools that fail, two at once, a team."""

import asyncio
import json
import logging

from agno.agent import Agent
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.team import Team
from agno.utils.log import configure_agno_logging

quiet = logging.getLogger("quiet")  # agno prints tracebacks, which have the lines of a tool's body
quiet.addHandler(logging.NullHandler())
quiet.propagate = False
configure_agno_logging(custom_default_logger=quiet, custom_agent_logger=quiet, custom_team_logger=quiet)


def weather(city: str) -> str:
    """The weather in a city."""
    if city == "Atlantis":
        raise ValueError("no such city")
    return f"sunny in {city}"


async def distance(city: str) -> str:
    """The distance to a city."""
    await asyncio.sleep(0.01)
    return f"{len(city) * 100} km"


def made(name, *tools):
    return Agent(name=name, model=OpenAIChat(id="gpt-4.1"), tools=list(tools), telemetry=False)


async def at_once():
    results = [(await made("Scout", weather, distance).arun("Weather again?")).content]
    pieces = made("Piecemeal", distance).arun("Weather in pieces?", stream=True)
    results.append("".join([event.content or "" async for event in pieces]))
    both = await asyncio.gather(*(made(name, distance).arun("How far?") for name in ("Left", "Right")))
    return [*results, *(one.content for one in both)]


def main():
    scout = made("Scout", weather)
    results = [scout.run("Weather?").content]
    results.append("".join(event.content or "" for event in scout.run("Weather in pieces?", stream=True)))
    results += asyncio.run(at_once())
    team = Team(
        name="Crew", members=[made("Writer", weather)], model=OpenAIChat(id="gpt-4.1"), telemetry=False
    )
    results.append(team.run("Say hello together").content)
    answering = Agent(name="Answering", model=OpenAIResponses(id="gpt-4.1"), tools=[weather], telemetry=False)
    results.append(answering.run("Weather?").content)
    pieces = answering.run("Weather in pieces?", stream=True)
    return [*results, "".join(event.content or "" for event in pieces)]


if __name__ == "__main__":
    print(json.dumps(main()))
