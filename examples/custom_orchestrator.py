"""Your own orchestrator: a session, steps, facts, and the trace exported to where you want it.

Writes `workflow.lctl.json`. `lctl replay workflow.lctl.json` shows both model calls in their steps and
the two facts; `--to-seq N` shows what was known at any event.
"""

from anthropic import Anthropic

from lctl import LCTLSession
from lctl.testing import ModelServer


class Llm:
    """Whatever calls models in your program."""

    def __init__(self, url: str) -> None:
        self.client = Anthropic(base_url=url, api_key="test")

    def complete(self, prompt: str) -> str:
        answer = self.client.messages.create(
            model="claude-haiku-4-5", max_tokens=200, messages=[{"role": "user", "content": prompt}]
        )
        return "".join(block.text for block in answer.content if block.type == "text")


with ModelServer() as server:
    server.script(["It must sort numbers.", "def solve(xs): return sorted(xs)"])
    llm = Llm(server.anthropic_url)

    with LCTLSession() as session:
        # All operations within context are traced
        with session.step("planner", "analyze"):
            result1 = llm.complete("Analyze requirements")
            session.add_fact("F1", "Requirements analyzed", confidence=0.9)

        with session.step("coder", "generate"):
            result2 = llm.complete(f"Generate code for: {result1}")
            session.add_fact("F2", "Code generated", confidence=0.85)

    # Export trace
    session.export("workflow.lctl.json")
    print(result2)
