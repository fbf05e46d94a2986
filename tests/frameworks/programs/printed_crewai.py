"""CrewAI: the date in the prompt, to the microsecond, and results printed with their times."""

from crewai import LLM, Agent, Crew, Task

clerk = Agent(
    role="Clerk",
    goal="Say what day it is",
    backstory="Sits by the clock.",
    llm=LLM(model="gpt-4.1"),
    inject_date=True,
    date_format="%Y-%m-%d %H:%M:%S.%f",
)
task = Task(description="What day is it?", expected_output="The day", agent=clerk)
result = Crew(agents=[clerk], tasks=[task]).kickoff()
print(repr(result), task.start_time, task.execution_duration)
