"""Agno: answers printed as they come, with how long they took, and tools of a toolkit that counts."""

import json
import sys

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.tools import Toolkit
from rich.console import Console


class Till(Toolkit):
    def __init__(self):
        super().__init__(name="till", tools=[self.add])
        self.total = 0

    def add(self, amount: int) -> str:
        """Add an amount.

        Args:
            amount: what to add
        """
        self.total += amount
        print("adding", amount)
        return f"{self.total} now"


def main(console=None):
    till = Till()
    agent = Agent(name="Clerk", model=OpenAIChat(id="gpt-4.1-mini"), tools=[till], telemetry=False)
    told = []
    for streamed in (False, True):
        agent.print_response("Add it", stream=streamed, console=console)
        told.append(till.total)
    answer = agent.run("Add it once more")
    if console is None:
        print(answer.metrics.duration)
    return [*told, answer.content, till.total]


if __name__ == "__main__":
    # How long it took is not the same in any two runs.
    shown = main() if "--timed" in sys.argv else main(Console(quiet=True))
    print(json.dumps(shown))
