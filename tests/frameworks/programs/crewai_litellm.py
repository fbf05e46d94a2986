"""CrewAI over litellm: a model that only litellm serves, tools asked for in text; sync and async."""

import asyncio
import json
import logging
import os

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

logging.getLogger("crewai.llms.base_llm").setLevel(logging.ERROR)


@tool("weather")
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}."


def crew():
    llm = LLM(
        model="groq/llama-local", base_url=os.environ["OPENAI_BASE_URL"], api_key="test", is_litellm=True
    )
    scout = Agent(role="Scout", goal="Find places", backstory="Knows maps.", tools=[weather], llm=llm)
    return Crew(agents=[scout], tasks=[Task(description="Find.", expected_output="A place.", agent=scout)])


def main():
    return [crew().kickoff().raw, asyncio.run(crew().akickoff()).raw]


if __name__ == "__main__":
    print(json.dumps(main()))
