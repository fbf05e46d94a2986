"""DSPy as it is by default: answers are kept in memory and on disk."""

import os

import dspy

options = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test"}
dspy.configure(lm=dspy.LM("openai/gpt-4.1-mini", engine="lm15", **options))
ask = dspy.Predict("question -> answer")
print(ask(question="How is the weather?").answer, ask(question="How is the weather?").answer)
