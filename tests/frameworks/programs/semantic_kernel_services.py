"""Semantic Kernel's agents on services that have ways of their own: Bedrock in a pool's threads, Google without
ids, Ollama."""

import asyncio
import json
import os

from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.bedrock import BedrockChatCompletion
from semantic_kernel.connectors.ai.google.google_ai import GoogleAIChatCompletion
from semantic_kernel.connectors.ai.ollama import OllamaChatCompletion
from semantic_kernel.functions import kernel_function


class Stock:
    def __init__(self):
        self.asked = 0

    @kernel_function
    def count(self, item: str) -> int:
        """How many there are."""
        with open("asked.txt", "a") as file:
            file.write(item + "\n")
        self.asked += 1
        return len(item) * 3

    @kernel_function
    async def order(self, item: str, number: int) -> dict:
        """Order some."""
        await asyncio.sleep(0.005)
        return {"item": item, "number": number}


def services():
    yield BedrockChatCompletion(model_id="anthropic.claude-sonnet-4-5-20250929-v1:0")
    yield GoogleAIChatCompletion(gemini_model_id="gemini-2.5-flash", api_key="test")
    yield OllamaChatCompletion(ai_model_id="llama3.2", host=os.environ["OLLAMA_HOST"])


async def keepers():
    results = []
    for service in services():
        stock = Stock()
        keeper = ChatCompletionAgent(
            service=service, name="keeper", instructions="You keep.", plugins=[stock]
        )
        answer = await keeper.get_response("How many pears?")
        results.append(str(answer))
        pieces = [str(piece) async for piece in keeper.invoke_stream("And now?", thread=answer.thread)]
        results += ["".join(pieces), stock.asked]
    return results


def main():
    return asyncio.run(keepers())


if __name__ == "__main__":
    print(json.dumps(main()))
