"""litellm, sync, async and streaming."""

import asyncio
import os

import litellm

options = {"model": "openai/gpt-4.1-mini", "api_base": os.environ["OPENAI_BASE_URL"], "api_key": "test"}


def say(text):
    return [{"role": "user", "content": text}]


print(litellm.completion(messages=say("Sync"), **options).choices[0].message.content)
for chunk in litellm.completion(messages=say("Stream"), stream=True, **options):
    print(chunk.choices[0].delta.content)


async def main():
    answers = await asyncio.gather(*[litellm.acompletion(messages=say("Async"), **options) for n in range(4)])
    print([answer.choices[0].message.content for answer in answers])


asyncio.run(main())
