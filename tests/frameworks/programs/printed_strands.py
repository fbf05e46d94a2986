"""Strands: the metrics of a run, printed whole."""

from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
def turn(text: str) -> str:
    """Turn a text round."""
    return text[::-1]


result = Agent(model=OpenAIModel(model_id="gpt-4.1"), tools=[turn], callback_handler=None)("use the tool")
print(result.metrics.get_summary())
