"""DSPy: the calls it remembers, printed whole."""

import dspy

dspy.configure(lm=dspy.LM("openai/gpt-4.1", cache=False))
print(dspy.Predict("question -> answer")(question="What is it?"))
print(dspy.settings.lm.history)
