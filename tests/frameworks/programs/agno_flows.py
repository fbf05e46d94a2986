"""Agno: workflows, teams that hand on tasks, tools that give pieces, runs that wait for somebody."""

import asyncio
import json
import logging
from collections.abc import Iterator

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat
from agno.team import Team
from agno.tools import tool
from agno.utils.log import configure_agno_logging
from agno.workflow import Loop, Parallel, Step, StepInput, StepOutput, Workflow

quiet = logging.getLogger("quiet")
quiet.addHandler(logging.NullHandler())
quiet.propagate = False
configure_agno_logging(custom_default_logger=quiet, custom_agent_logger=quiet, custom_team_logger=quiet)


def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def search(question: str) -> Iterator[str]:
    """Search, telling piece by piece."""
    with open("asked.txt", "a") as file:
        file.write(question + "\n")
    yield "looked for "
    yield question


@tool(requires_confirmation=True)
def launch(rocket: str) -> str:
    """Launch a rocket; somebody has to agree."""
    return f"{rocket} launched"


def made(name, *tools, **more):
    model = OpenAIChat(id="gpt-4.1")
    return Agent(name=name, id=name.lower(), model=model, tools=list(tools), telemetry=False, **more)


def team():
    return Team(
        name="Crew", members=[made("Scout", weather)], model=OpenAIChat(id="gpt-4.1"), telemetry=False
    )


def shortened(step: StepInput) -> StepOutput:
    return StepOutput(content=str(step.previous_step_content)[:10])


def flow():
    both = Parallel(
        Step(name="left", agent=made("Left")), Step(name="right", agent=made("Right")), name="both"
    )
    again = Loop(name="again", steps=[Step(name="polish", agent=made("Polisher"))], max_iterations=2)
    steps = [Step(name="look", agent=made("Looker", weather)), shortened, both, again]
    return Workflow(name="Flow", steps=steps, telemetry=False)


def waits(agree):
    pilot = made("Pilot", launch, db=InMemoryDb())
    run = pilot.run("Launch it", session_id="one")
    for one in run.active_requirements:
        one.confirm() if agree else one.reject()
    done = pilot.continue_run(run_id=run.run_id, requirements=run.requirements, session_id="one")
    return [run.status.value, done.status.value, done.content]


async def in_pieces():
    crew = [event.event async for event in team().arun("Hand it on", stream=True)]
    flown = [
        event.content async for event in flow().arun("Weather?", stream=True) if event.event == "RunContent"
    ]
    return [crew[-1], len(flown), (await flow().arun("Weather?")).content]


def main():
    results = [made("Seeker", search).run("Search").content]
    results.append("".join(e.content or "" for e in made("Seeker", search).run("Search", stream=True)))
    results += [team().run("Hand it on").content, flow().run("Weather?").content]
    results.append(made("Unlucky").run("Overload").status.value)
    return [*results, waits(True), waits(False), asyncio.run(in_pieces())]


if __name__ == "__main__":
    print(json.dumps(main()))
