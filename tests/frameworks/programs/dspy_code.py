"""DSPy: modules whose model writes code, which is executed in a process of its own and calls tools and models; an
interpreter that is used by hand, with callbacks."""

import json
import os

import dspy
from dspy import LocalInterpreter
from dspy.utils import BaseCallback


def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


class Heard(BaseCallback):
    """What is told of interpreters."""

    def __init__(self):
        self.said = []

    def on_interpreter_execute_start(self, call_id, instance, inputs):
        self.said.append(inputs["code"])

    def on_interpreter_execute_end(self, call_id, outputs, exception=None):
        self.said.append([str(outputs), repr(exception)])


def by_hand():
    heard, found = Heard(), []
    with LocalInterpreter(tools={"weather": weather}, callbacks=[heard]) as interpreter:
        found.append(interpreter.execute("x = weather(city='Oslo')\nprint(x)"))
        found += [interpreter("x + '!'"), interpreter.execute("n * 2", {"n": 21})]
        found.append(interpreter.execute("SUBMIT(x)").output)
        for code in ("1 / 0", "print(", "weather(city='Atlantis')"):
            try:
                interpreter.execute(code)
            except (dspy.primitives.code_interpreter.CodeExecutionError, SyntaxError) as error:
                found.append([type(error).__name__, str(error)])
    return found, heard.said


def main():
    options = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test", "cache": False}
    lm = dspy.LM("openai/gpt-4.1-mini", engine="lm15", **options)
    with dspy.context(lm=lm, interpreter_factory=LocalInterpreter, disable_history=True):
        thought = dspy.ProgramOfThought("question -> answer")(question="How much?").answer
        library = dspy.RLM("context, query -> answer", tools=[weather])
        read = library(context="A long text. " * 100, query="What of it?").answer
        return [thought, read, by_hand()]


if __name__ == "__main__":
    print(json.dumps(main()))
