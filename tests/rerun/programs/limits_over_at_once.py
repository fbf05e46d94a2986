"""Limits of time that are over as they are set: what is done before takes longer. Nothing tells a rerun so."""

import asyncio
import hashlib
import random
import time

import anyio
from openai import AsyncOpenAI


def compute(rounds: int) -> None:
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", rounds)


start = time.perf_counter()
compute(20_000)
ROUNDS = int(20_000 * 0.02 / (time.perf_counter() - start))  # some 20 ms
client = AsyncOpenAI(max_retries=0)


async def ask(what: str) -> str:
    said = [{"role": "user", "content": f"{what} {random.random()}"}]
    answer = await client.chat.completions.create(model="gpt-4.1-mini", messages=said)
    return answer.choices[0].message.content


async def limited(seconds: float, *, late: bool) -> str:
    limit = asyncio.timeout(seconds)
    if late:
        compute(ROUNDS)
    try:
        async with limit:
            return await ask("limited")
    except TimeoutError:
        return "late"


async def moved() -> str:
    try:
        async with asyncio.timeout(5) as limit:
            soon = asyncio.get_running_loop().time() + 0.005
            compute(ROUNDS)
            limit.reschedule(soon)
            return await ask("moved")
    except TimeoutError:
        return "late"


async def scoped(seconds: float, *, late: bool) -> str:
    scope = anyio.move_on_after(seconds)
    if late:
        compute(ROUNDS)
    with scope:
        return await ask("scoped")
    return "late"


async def main() -> None:
    print(await limited(0.005, late=True), await limited(5, late=False), await limited(0, late=False))
    print(
        await moved(),
        await scoped(0.005, late=True),
        await scoped(5, late=False),
        await scoped(0, late=False),
    )
    print(await asyncio.gather(*[limited(0.005, late=True) for _ in range(3)], limited(5, late=False)))
    print(await asyncio.gather(*[scoped(0.005, late=True) for _ in range(3)], scoped(5, late=False)))


asyncio.run(main())
