"""Agno: the time in the prompt, and runs printed whole."""

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.team import Team


def agent(name):
    return Agent(name=name, model=OpenAIChat(id="gpt-4.1"), add_datetime_to_context=True, telemetry=False)


one = agent("one")
print(one.run("What time is it?"))
for event in one.run("And now?", stream=True, stream_events=True):
    print(event)
team = Team(
    members=[agent("two")], model=OpenAIChat(id="gpt-4.1"), add_datetime_to_context=True, telemetry=False
)
print(team.run("And for you?"))
