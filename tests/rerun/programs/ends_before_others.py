"""Tools that end in a turn of a loop before other tasks go on in it, and after others: seen in what is printed."""

import asyncio

import lctl


@lctl.tool
async def look(turns):
    for _ in range(turns):
        await asyncio.sleep(0)
    return turns


async def worker(turns, told):
    told.append(f"got {await look(turns)}")


async def beat(name, told):
    for n in range(12):
        told.append(f"{name}{n}")
        await asyncio.sleep(0)


async def main():
    told = []
    await asyncio.gather(worker(3, told), beat("a", told), worker(6, told), beat("b", told), worker(8, told))
    print(" ".join(told))


asyncio.run(main())
