"""Semantic Kernel: a filter that calls a function again which has failed, and another one after it."""

import asyncio

from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.filters import FilterTypes
from semantic_kernel.functions import kernel_function


class Shop:
    tries = 0

    @kernel_function
    def price(self, item: str) -> float:
        """The price of an item."""
        self.tries += 1
        if self.tries == 1:
            raise TimeoutError("again")
        return 2.5

    @kernel_function
    def note(self) -> str:
        """Note that somebody has asked."""
        return "noted"


async def patient(context, next):
    try:
        await next(context)
    except Exception:
        await next(context)
    if context.function.name == "price":
        await context.kernel.invoke(plugin_name="Shop", function_name="note")


async def main():
    clerk = ChatCompletionAgent(
        service=OpenAIChatCompletion(ai_model_id="gpt-4.1"), name="clerk", plugins=[Shop()]
    )
    clerk.kernel.add_filter(FilterTypes.FUNCTION_INVOCATION, patient)
    print(await clerk.get_response("How much is a pear?"))


asyncio.run(main())
