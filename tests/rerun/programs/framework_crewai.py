"""CrewAI: a crew of two with a tool, two tasks in parallel before a third; sync and async."""

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
    results = await asyncio.gather(*[crew().kickoff_async() for _ in range(2)])
    print([told(result) for result in results])
    print(told(await crew().akickoff()))


asyncio.run(main())
