"""Semantic Kernel: plugins, agents given as plugins, prompt functions, filters, orchestrations, a fake service."""

import asyncio
import json

from pydantic import BaseModel
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent, ConcurrentOrchestration, HandoffOrchestration
from semantic_kernel.agents import OrchestrationHandoffs, SequentialOrchestration
from semantic_kernel.agents.runtime import InProcessRuntime
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import ChatMessageContent
from semantic_kernel.core_plugins import MathPlugin
from semantic_kernel.filters import FilterTypes
from semantic_kernel.functions import KernelArguments, kernel_function
from semantic_kernel.prompt_template import PromptTemplateConfig


class Weather:
    @kernel_function
    def weather(self, city: str) -> str:
        """The weather of a city."""
        with open("asked.txt", "a") as file:
            file.write(city + "\n")
        if city == "Atlantis":
            raise LookupError("no such city")
        return f"Sunny in {city}."

    @kernel_function
    async def distance(self, city: str) -> dict:
        """How far a city is."""
        await asyncio.sleep(0.01)
        return {"km": len(city) * 100}

    @kernel_function
    async def launch(self, rocket: str) -> str:
        """Launch a rocket; nobody ever agrees."""
        raise AssertionError("launched")


class Maps:
    @kernel_function
    async def height(self, place: str) -> int:
        """How high a place is."""
        return len(place) * 10


class City(BaseModel):
    name: str
    people: int


class Parrot(ChatCompletionClientBase):
    """Says what it heard last; asks nobody."""

    async def _inner_get_chat_message_contents(self, chat_history, settings):
        return [ChatMessageContent(role="assistant", content=f"You said {chat_history.messages[-1].content}")]

    def get_prompt_execution_settings_class(self):
        return PromptExecutionSettings


def made(name, plugins=(), **more):
    service = more.pop("service", None) or OpenAIChatCompletion(ai_model_id="gpt-4.1-mini")
    given = {"instructions": f"You are {name}.", "description": f"The {name}"}
    return ChatCompletionAgent(name=name, service=service, plugins=list(plugins), **{**given, **more})


async def refused(context, next):
    if context.function.name == "launch":
        context.function_result.value = "Nobody agreed."
        return
    await next(context)


async def agents():
    scout = made("scout", [Weather()])
    answer = await scout.get_response("Is it sunny?")
    results = [str(answer), str(await scout.get_response("And now?", thread=answer.thread))]
    results.append(
        "".join([str(piece) async for piece in made("scout", [Weather()]).invoke_stream("Is it sunny?")])
    )
    results.append(
        [str(one) async for one in made("boss", [made("expert", [Weather()])]).invoke("Ask the expert")]
    )
    both = await asyncio.gather(
        *(made(name, [Maps()]).get_response("How high?") for name in ("left", "right"))
    )
    results += [str(one) for one in both]
    pilot = made("pilot", [Weather()])
    pilot.kernel.add_filter(FilterTypes.AUTO_FUNCTION_INVOCATION, refused)
    results.append(str(await pilot.get_response("Launch it")))
    results.append(str(await made("parrot", service=Parrot(ai_model_id="parrot")).get_response("Hello")))
    arguments = KernelArguments(settings=OpenAIChatPromptExecutionSettings(response_format=City))
    results.append(str(await made("namer", arguments=arguments).get_response("Name a city.")))
    return results


async def kernels():
    kernel = Kernel()
    kernel.add_service(OpenAIChatCompletion(ai_model_id="gpt-4.1-mini"))
    kernel.add_plugin(MathPlugin(), "math")
    told = await kernel.invoke_prompt("What is {{math.Add input='2' amount='3'}}?", function_name="ask")
    found = await kernel.invoke(plugin_name="math", function_name="Add", input=20, amount=22)
    unnamed = await kernel.invoke_prompt("Say a word.")
    pieces = [str(piece[0]) async for piece in kernel.invoke_prompt_stream("Say words.")]
    greeting = PromptTemplateConfig(name="greeting", template="Say hello.")
    greeted = await kernel.invoke_prompt("Say hello.", prompt_template_config=greeting)
    return [str(told), found.value, str(unnamed), "".join(pieces), str(greeted)]


async def teams():
    runtime = InProcessRuntime()
    runtime.start()
    results = []
    first, second = made("first", [Weather()]), made("second")
    triage, refunds = made("triage"), made("refunds", [Weather()])
    handoffs = (
        OrchestrationHandoffs().add(triage, refunds, "Transfer for refunds").add(refunds, triage, "Back")
    )
    for team in (
        SequentialOrchestration(members=[first, second]),
        ConcurrentOrchestration(members=[made("one", [Maps()]), made("two", [Maps()])]),
        HandoffOrchestration(members=[triage, refunds], handoffs=handoffs),
    ):
        result = await team.invoke("Is it sunny?", runtime)
        value = await result.get()
        said = [value] if isinstance(value, ChatMessageContent) else sorted(value, key=lambda one: one.name)
        results.append([[one.name, str(one)] for one in said])
        await runtime.stop_when_idle()
        runtime.start()
    await runtime.stop_when_idle()
    return results


def main():
    return [asyncio.run(part()) for part in (agents, kernels, teams)]


if __name__ == "__main__":
    print(json.dumps(main()))
