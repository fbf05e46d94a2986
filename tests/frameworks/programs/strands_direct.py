"""A tool that the program calls itself: Strands draws an id for it, and tells the model of the call."""

import lctl

lctl.auto_instrument()

from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
def calculate(expression: str) -> str:
    """Calculate."""
    return str(eval(expression))


agent = Agent(model=OpenAIModel(model_id="gpt-4o"), tools=[calculate], callback_handler=None)
print(agent("Compute two."))
for expression in ("3 * 3", "4 * 4"):
    print(agent.tool.calculate(expression=expression)["content"])
    print(agent(f"And after {expression}?"))
