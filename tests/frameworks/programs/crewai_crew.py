"""CrewAI: two agents with tools, two tasks at once before a third that delegates; sync, async, streaming; an
agent that a failure of its tool stops."""

import asyncio
import json
import sys
import logging
from collections import defaultdict
from contextlib import redirect_stdout
from io import StringIO

from crewai import LLM, Agent, Crew, Process, Task
from crewai.flow.flow import Flow, listen, start
from crewai.tools import BaseTool, tool

# A warning whose format depends on which thread configures logging first.
logging.getLogger("crewai.llms.base_llm").setLevel(logging.ERROR)


@tool("weather")
def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


class Distance(BaseTool):
    name: str = "distance"
    description: str = "The distance to a city in kilometres."
    max_usage_count: int | None = 1

    def _run(self, city: str) -> dict:
        return {"city": city, "km": len(city) * 100}


def crew(stream=False):
    llm = LLM(model="openai/gpt-4.1-mini", stream=stream)
    scout = Agent(role="Scout", goal="Find places", backstory="Knows maps.", tools=[weather], llm=llm)
    guide = Agent(role="Guide", goal="Measure ways", backstory="Walks.", tools=[Distance()], llm=llm)
    writer = Agent(
        role="Writer", goal="Write it up", backstory="Knows words.", llm=llm, allow_delegation=True
    )
    find = Task(
        name="find",
        description="Find a place.",
        expected_output="A place.",
        agent=scout,
        async_execution=True,
    )
    way = Task(description="Measure the way.", expected_output="A way.", agent=guide, async_execution=True)
    write = Task(
        description="Write a line for {who}.", expected_output="A line.", agent=writer, context=[find, way]
    )
    return Crew(
        name="travel",
        agents=[scout, guide, writer],
        tasks=[find, way, write],
        process=Process.sequential,
        stream=stream,
    )


def told(result):
    return result.raw, [task.raw for task in result.tasks_output], result.token_usage.successful_requests


async def at_once():
    native = await crew().akickoff({"who": "Bob"})
    others = await asyncio.gather(*[crew().kickoff_async({"who": name}) for name in ("Cid", "Dot")])
    return [told(result) for result in (native, *others)]


def streamed():
    streaming = crew(stream=True).kickoff({"who": "Eve"})
    said = defaultdict(str)
    for chunk in streaming:
        said[chunk.agent_role] += chunk.content
    return sorted(said.items()), told(streaming.result)


def stopped():
    """A failure that stops an agent alone, one that stops the crew, and an agent after it, which is in nothing of that."""
    llm = LLM(model="openai/gpt-4.1-mini")
    diver = Agent(
        role="Diver",
        goal="Dive",
        backstory="Swims.",
        tools=[weather],
        llm=llm,
        tool_failure_policy="raise",
    )
    dive = Task(description="Dive for it.", expected_output="A find.", agent=diver)
    try:
        diver.execute_task(dive)
    except Exception as error:
        print(type(error).__name__, file=sys.stderr)
    try:
        Crew(name="dive", agents=[diver], tasks=[dive]).kickoff()
    except Exception as error:
        return type(error).__name__, Agent(role="Rower", goal="Row", backstory="Rows.", llm=llm).kickoff(
            "Row."
        ).raw


class Journey(Flow):
    @start()
    def plan(self):
        return "Rome"

    @listen(plan)
    def travel(self, place):
        return told(crew().kickoff({"who": place}))


def journey():
    with redirect_stdout(StringIO()):  # it shows its identifier
        return Journey().kickoff()


def main():
    return [
        told(crew().kickoff({"who": "Ann"})),
        asyncio.run(at_once()),
        streamed(),
        journey(),
        stopped(),
    ]


if __name__ == "__main__":
    print(json.dumps(main()))
