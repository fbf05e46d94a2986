"""LlamaIndex and tenacity with limits in seconds: what they wait for and what they give up by their clocks."""

import asyncio
import os
import sys

if "auto" in sys.argv:
    import lctl

    lctl.auto_instrument()

from llama_index.core.llms import ChatMessage
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from llama_index.llms.openai import OpenAI
from tenacity import AsyncRetrying, RetryError, stop_after_delay, wait_fixed
from workflows.errors import WorkflowTimeoutError
from workflows.retry_policy import ConstantDelayRetryPolicy

llm = OpenAI(model="gpt-4.1-mini", api_base=os.environ["OPENAI_BASE_URL"])
tries = []


async def ask(text):
    return (await llm.achat([ChatMessage(role="user", content=text)])).message.content


class Slow(Workflow):
    @step
    async def go(self, ev: StartEvent) -> StopEvent:
        print(await ask("How long?"))
        await asyncio.sleep(20)
        return StopEvent(result="late")


class Failing(Workflow):
    @step(retry_policy=ConstantDelayRetryPolicy(delay=1.0, maximum_attempts=2))
    async def go(self, ev: StartEvent) -> StopEvent:
        tries.append(await ask(f"Try {len(tries)}"))
        raise ValueError(f"{len(tries)} tries")


async def polls():
    asked = 0
    try:
        async for attempt in AsyncRetrying(stop=stop_after_delay(1.5), wait=wait_fixed(1.0)):
            with attempt:
                asked += 1
                await ask(f"Ready? {asked}")
                raise ValueError("not ready")
    except RetryError:
        return f"asked {asked} times"


async def main():
    await ask("Are you there?")  # the first call loads what the client needs, which takes its time
    try:
        print(await Slow(timeout=0.5).run())
    except WorkflowTimeoutError as error:
        print("Slow:", error)
    for wait in (5.0, 0.5):
        tries.clear()
        try:
            print(await Failing(timeout=wait).run())
        except Exception as error:
            print("Failing:", type(error).__name__, len(tries))
    print(await polls())


asyncio.run(main())
