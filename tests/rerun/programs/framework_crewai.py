"""CrewAI: a crew of two with a tool, two tasks in parallel before a third; sync, in a thread, and on a loop.

Crews at the same time race for a file lock of CrewAI's in the temporary folder: who gets it first is the
system's choice, which no tape holds. A rerun says so when it was the other one.
"""

import asyncio

from crewai import Agent, Crew, LLM, Process, Task
from crewai.tools import tool


@tool("weather")
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


def crew():
    llm = LLM(model="openai/gpt-4.1-mini")
    scout = Agent(role="Scout", goal="Find sunny places", backstory="Knows maps.", tools=[weather], llm=llm)
    writer = Agent(role="Writer", goal="Write it up", backstory="Knows words.", llm=llm)
    find = Task(
        description="Find a sunny place.", expected_output="A place.", agent=scout, async_execution=True
    )
    title = Task(
        description="Think of a title.", expected_output="A title.", agent=writer, async_execution=True
    )
    write = Task(description="Write a line.", expected_output="A line.", agent=writer, context=[find, title])
    return Crew(agents=[scout, writer], tasks=[find, title, write], process=Process.sequential)


def told(result):
    return result.raw, [task.raw for task in result.tasks_output]


print(told(crew().kickoff()))


async def main():
    print(told(await crew().kickoff_async()))
    print(told(await crew().akickoff()))


asyncio.run(main())
