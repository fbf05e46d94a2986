"""Agno: what was remembered is in the next prompt; a workflow streamed with all events, a workflow in it; a step that
fails and is skipped; steps that wait for somebody; an agent of a class of one's own."""

import json
import logging

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat
from agno.tools import tool
from agno.utils.log import configure_agno_logging
from agno.workflow import Step, StepInput, StepOutput, Workflow
from agno.workflow.types import HumanReview

quiet = logging.getLogger("quiet")
quiet.addHandler(logging.NullHandler())
quiet.propagate = False
configure_agno_logging(custom_default_logger=quiet, custom_agent_logger=quiet, custom_team_logger=quiet)


@tool(requires_confirmation=True)
def launch(rocket: str) -> str:
    """Launch a rocket; somebody has to agree."""
    return f"{rocket} launched"


class Pilot(Agent):
    """An agent of one's own."""


def made(name, *tools, kind=Agent, **more):
    model = OpenAIChat(id="gpt-4.1")
    return kind(name=name, id=name.lower(), model=model, tools=list(tools), telemetry=False, **more)


def remembers():
    keeper = made("Keeper", db=InMemoryDb(), update_memory_on_run=True, user_id="ann")
    told = [keeper.run(text, session_id="one").content for text in ("I like tea", "What do I like?")]
    return [*told, [one.memory for one in keeper.get_user_memories(user_id="ann")]]


def failing(step: StepInput) -> StepOutput:
    raise ValueError("not today")


def flow(name, *steps, **more):
    return Workflow(name=name, steps=list(steps), telemetry=False, **more)


def streamed():
    inner = flow("Inner", Step(name="look", agent=made("Looker")))
    skipped = Step(name="failing", executor=failing, skip_on_failure=True, max_retries=0)
    last = Step(name="last", agent=made("Last"))
    outer = flow(
        "Outer", Step(name="first", agent=made("First")), Step(name="in", workflow=inner), skipped, last
    )
    events = [event.event for event in outer.run("Go", stream=True, stream_events=True)]
    return [events.count("RunCompleted"), events[-1]]


def waits():
    review = HumanReview(requires_confirmation=True, confirmation_message="Send it?")
    sends = Step(name="send", agent=made("Sender"), human_review=review)
    launches = Step(name="launch", agent=made("Pilot", launch, kind=Pilot, db=InMemoryDb()))
    both = [flow("Sends", sends, db=InMemoryDb()), flow("Launches", launches, db=InMemoryDb())]
    return [one.run("Go", session_id="one").status.value for one in both]


def main():
    return [remembers(), streamed(), waits()]


if __name__ == "__main__":
    print(json.dumps(main()))
