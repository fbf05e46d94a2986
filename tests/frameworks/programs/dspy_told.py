"""DSPy: an agent whose tool fails, which the model is shown, and the history of calls as DSPy prints it. With
AUTO in the environment it records itself."""

import asyncio
import os

if "AUTO" in os.environ:
    import lctl

    lctl.auto_instrument()

import dspy


def weather(city: str) -> str:
    """The weather of a city."""
    raise LookupError(f"no {city}")


options = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test", "cache": False}
lm = dspy.LM("openai/gpt-4.1-mini", engine="lm15", **options)
with dspy.context(lm=lm):
    agent = dspy.ReAct("place -> answer", tools=[weather], max_iters=3)
    print(agent(place="Rome").answer, asyncio.run(agent.acall(place="Oslo")).answer)
    dspy.inspect_history(n=2)
    agent.inspect_history(n=1)
