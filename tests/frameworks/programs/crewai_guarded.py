"""CrewAI: a guardrail that refuses once, one in words that a model judges, one that fails, a task told at length."""

import asyncio
import json

from crewai import LLM, Agent, Crew, Task

llm = LLM(model="openai/gpt-4.1-mini")


def long_enough(output):
    return (True, output.raw) if len(output.raw) > 10 else (False, "too short")


def broken(output):
    raise LookupError("no ruler")


def crew(name, description, guardrail):
    agent = Agent(role="Writer", goal="Write.", backstory="-", llm=llm)
    task = Task(description=description, expected_output="A line.", agent=agent, guardrail=guardrail)
    return Crew(name=name, agents=[agent], tasks=[task])


DESCRIPTION = """Write a line about each of the rivers of the country, in the order of their length, longest first, and of each

- its name
- its length"""


def main():
    refused = crew("refused", DESCRIPTION, long_enough).kickoff().raw
    judged = asyncio.run(crew("judged", "Judge it.", "The line must rhyme.").akickoff()).raw
    try:
        failed = crew("failed", "Fail.", broken).kickoff().raw
    except Exception as error:
        failed = type(error).__name__
    return refused, judged, failed


if __name__ == "__main__":
    print(json.dumps(main()))
