"""DSPy: an agent with tools, modules at once, sync, async and streaming; callbacks; calls that are carried out
by hand; a model that makes no call."""

import asyncio
import json
import os

import dspy
from dspy.utils import BaseCallback, DummyLM


def weather(city: str) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("no such city")
    return f"Sunny in {city}."


async def distance(city: str) -> int:
    """The distance to a city in kilometres."""
    return len(city) * 100


class Journey(dspy.Module):
    def __init__(self):
        super().__init__()
        self.scout = dspy.ReAct("place -> answer", tools=[weather, distance], max_iters=4)
        self.write = dspy.ChainOfThought("answer -> line")

    def forward(self, place):
        return self.write(answer=self.scout(place=place).answer)

    async def aforward(self, place):
        found = await self.scout.acall(place=place)
        return await self.write.acall(answer=found.answer)


async def at_once():
    found = await asyncio.gather(*[Journey().acall(place=place) for place in ("Rome", "Oslo")])
    listeners = [dspy.streaming.StreamListener(signature_field_name="line")]
    program = dspy.streamify(dspy.Predict("answer -> line"), stream_listeners=listeners)
    streamed = [item async for item in program(answer="Sunny")]
    said = [item.chunk if hasattr(item, "chunk") else item.line for item in streamed]
    return [one.line for one in found], said


class Heard(BaseCallback):
    """What is told of tools."""

    def __init__(self):
        self.said = []

    def on_tool_start(self, call_id, instance, inputs):
        self.said.append([instance.name, inputs])

    def on_tool_end(self, call_id, outputs, exception=None):
        self.said.append([str(outputs), repr(exception)])


def by_hand():
    """Calls of the model that the program carries out itself, its tools found in each way there is."""
    rome, atlantis = [
        dspy.ToolCalls.ToolCall(name="weather", args={"city": city}) for city in ("Rome", "Atlantis")
    ]
    found = [rome.execute(), rome.execute({"weather": weather}), rome.execute([dspy.Tool(weather)])]
    for functions in (None, {}):
        try:
            atlantis.execute(functions)
        except (RuntimeError, ValueError) as error:
            found.append([repr(error), repr(error.__cause__)])
    return found


def failures(lm):
    """What comes of an error status and of a connection that is cut."""
    found = []
    for asked in ("Refuse", "Cut"):
        try:
            found.append(lm.copy(num_retries=0)(asked))
        except Exception as error:
            found.append(type(error).__name__)
    return found


def main():
    options = {"api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test", "cache": False}
    lm = dspy.LM("openai/gpt-4.1-mini", engine="lm15", **options)
    with dspy.context(lm=lm, allow_tool_async_sync_conversion=True, disable_history=True):
        line = Journey()(place="Rome").line
        streamed = asyncio.run(at_once())
        examples = [dspy.Example(answer=letter).with_inputs("answer") for letter in "ab"]
        batch = dspy.Predict("answer -> line").batch(examples, num_threads=2, disable_progress_bar=True)
        with dspy.context(lm=DummyLM([{"line": "Made up."}])):
            made = dspy.Predict("answer -> line")(answer="None").line
        failed = failures(lm)
        heard = Heard()
        with dspy.context(callbacks=[heard]):
            dspy.Tool(weather)(city="Rome")
            asyncio.run(dspy.Tool(distance).acall(city="Rome"))
        done = by_hand()
    return [line, streamed, [one.line for one in batch], made, failed, heard.said, done]


if __name__ == "__main__":
    print(json.dumps(main()))
