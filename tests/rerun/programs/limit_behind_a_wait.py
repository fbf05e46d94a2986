"""Waits for what no recording knows (another process's lock), then asks what takes less than its limit."""

import asyncio
import fcntl
import sys

import lctl


@lctl.tool
async def ask(n: int) -> int:
    await asyncio.sleep(0.01)
    return n


async def main() -> None:
    async with asyncio.timeout(0.5):
        print(await asyncio.gather(ask(1), ask(2)), await ask(3))


print(asyncio.run(ask(0)))
with open(sys.argv[1], "rb") as held:
    fcntl.flock(held, fcntl.LOCK_EX)
asyncio.run(main())
