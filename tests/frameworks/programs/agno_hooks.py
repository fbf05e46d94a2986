"""Agno: hooks before and after runs and around tools, sync and async, of runs at once; guardrails that refuse."""

import asyncio
import sys

from agno.agent import Agent
from agno.exceptions import CheckTrigger, InputCheckError, OutputCheckError
from agno.models.openai import OpenAIChat
from agno.workflow import Step, StepInput, StepOutput, Workflow

HEARD = []


def before(run_input):
    HEARD.append(f"before {run_input.input_content}")


async def before_slowly(run_input):
    await asyncio.sleep(0.01)
    HEARD.append(f"slowly {run_input.input_content}")


async def after(run_output):
    await asyncio.sleep(0.02)
    HEARD.append(f"after {run_output.content}")


async def around(function_name, function_call, arguments):
    HEARD.append(f"{function_name} {arguments}")
    answer = await function_call(**arguments)
    HEARD.append(f"{function_name} {arguments}: {answer}")
    return answer


async def weather(city: str) -> str:
    """The weather in a city."""
    await asyncio.sleep(0.03 if city == "Rome" else 0.01)
    return f"sunny in {city}"


def refuse(run_input):
    raise InputCheckError("not in here", check_trigger=CheckTrigger.INPUT_NOT_ALLOWED)


def withhold(run_output):
    raise OutputCheckError("not out of here", check_trigger=CheckTrigger.OUTPUT_NOT_ALLOWED)


def fail(step_input: StepInput) -> StepOutput:
    return StepOutput(content="nothing", success=False, error="no paper")


def made(name, **options):
    return Agent(name=name, model=OpenAIChat(id="gpt-4.1"), telemetry=False, **options)


async def main():
    hooks = {"pre_hooks": [before, before_slowly], "post_hooks": [after], "tool_hooks": [around]}
    hooked = made("hooked", tools=[weather], **hooks)
    answers = await asyncio.gather(*[hooked.arun(f"Weather {number}?") for number in range(3)])
    print([answer.content for answer in answers])
    careful = made("careful", post_hooks=[withhold])
    print((await careful.arun("Hello")).status)
    print([event.event async for event in made("closed", pre_hooks=[refuse]).arun("Hello", stream=True)])


asyncio.run(main())
print(made("closed", pre_hooks=[refuse]).run("Hello").status)
print(Workflow(name="press", telemetry=False, steps=[Step(name="print", executor=fail)]).run("Go").status)
print(sorted(HEARD))
print(HEARD, file=sys.stderr)  # in which order is another matter in every run, and the same in a rerun
