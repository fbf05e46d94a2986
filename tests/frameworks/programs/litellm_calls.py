"""litellm: two providers, sync, async, streaming, a retry, a router that falls back, a mock, an error."""

import asyncio
import json
import os

import litellm
from litellm import Router, acompletion, completion

litellm.suppress_debug_info = True
openai = {"model": "openai/gpt-4.1-mini", "api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test"}
claude = {
    "model": "anthropic/claude-sonnet-4-5",
    "api_base": os.environ["ANTHROPIC_BASE_URL"],
    "api_key": "test",
    "max_tokens": 50,
}
# A client of litellm's own, which does not close what it has read.
groq = {"model": "groq/gpt-4.1-mini", "api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test"}


def say(text):
    return [{"role": "user", "content": text}]


def told(answer):
    return answer.choices[0].message.content, answer.usage.total_tokens


def in_turn():
    found = [told(completion(messages=say("Sync"), **options)) for options in (openai, claude)]
    for options in (openai, groq, claude):
        for chunk in completion(messages=say("Stream"), stream=True, **options):
            found.append(chunk.choices[0].delta.content)
    found.append(told(completion(messages=say("Retry"), num_retries=1, **openai)))
    try:
        completion(messages=say("Refuse"), **openai)
    except litellm.BadRequestError as error:
        found.append(type(error).__name__)
    mocked = completion(messages=say("Mock"), mock_response="Made up.", **openai)
    return [*found, mocked.choices[0].message.content]


async def at_once():
    found = []
    for options in (openai, claude):
        answers = await asyncio.gather(
            *[acompletion(messages=say(f"Async {n}"), **options) for n in range(3)]
        )
        found += [told(answer) for answer in answers]
    for options in (openai, claude, groq):
        async for chunk in await acompletion(messages=say("Stream"), stream=True, **options):
            found.append(chunk.choices[0].delta.content)
    router = Router(
        model_list=[
            {"model_name": "first", "litellm_params": {**openai, "model": "openai/gpt-broken"}},
            {"model_name": "second", "litellm_params": openai},
        ],
        fallbacks=[{"first": ["second"]}],
        num_retries=0,
    )
    return [*found, told(await router.acompletion(model="first", messages=say("Route")))]


def main():
    return [in_turn(), asyncio.run(at_once())]


if __name__ == "__main__":
    print(json.dumps(main()))
