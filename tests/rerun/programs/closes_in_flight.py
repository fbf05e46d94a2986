"""One of several calls fails and ends the block of their client: it is closed while the others are under way."""

import asyncio

from common_openai import ask_async
from openai import AsyncOpenAI, BadRequestError


async def ask(client, n):
    fault = f"hang={n}" if n else "status=400"
    try:
        return await ask_async(client, f"Ask {n}", extra_headers={"x-lctl-fault": fault})
    finally:
        print("over", n)


async def main():
    try:
        async with AsyncOpenAI(max_retries=0) as client:
            await asyncio.gather(*[ask(client, n) for n in range(4)])
    except BadRequestError as error:
        print("failed", error.status_code)


asyncio.run(main())
