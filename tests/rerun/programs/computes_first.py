"""Computes for a second and a half, then gives what it asks less time than that."""

import asyncio
import hashlib
import time

import lctl


def compute(rounds: int) -> None:
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", rounds)


@lctl.tool
async def ask(n: int) -> int:
    await asyncio.sleep(0.01)
    return n


async def main() -> None:
    async with asyncio.timeout(1.2):
        print(await asyncio.gather(ask(1), ask(2)), await ask(3))


start = time.perf_counter()
compute(200_000)
compute(int(200_000 * 1.5 / (time.perf_counter() - start)))
asyncio.run(main())
