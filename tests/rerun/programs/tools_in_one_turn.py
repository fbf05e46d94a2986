"""Asynchronous tools that end in the same turn of a loop, recorded by `auto_instrument()` alone: who goes on first
after them is seen in what is printed."""

import asyncio

import lctl

lctl.auto_instrument()


@lctl.tool
async def look(n):
    await asyncio.sleep(0.01)
    return n


async def worker(n, told):
    for again in range(3):
        told.append((await look(n), again))
        await asyncio.sleep(0)
        told.append((n, "on"))


async def main():
    told = []
    await asyncio.gather(*[worker(n, told) for n in range(5)])
    print(told)


asyncio.run(main())
