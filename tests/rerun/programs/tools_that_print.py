"""Tools whose bodies print: one by one, in threads, tasks and generators, in each other, and into standard error."""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator

from common_openai import ask_async
from openai import AsyncOpenAI

import lctl

logging.basicConfig(format="%(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("tools")


@lctl.tool
def look(place: str) -> str:
    print("looking at", place, end=" ")
    print("...")
    log.info("looked at %s", place)
    sys.stderr.write(f"note: {place}\n")
    return place.upper()


@lctl.tool
def plan(places: list[str]) -> list[str]:
    print("plan begins ☕")
    found = [look(place) for place in places]
    print("plan ends")
    return found


@lctl.tool
def refuse() -> None:
    print("about to fail")
    raise ValueError("refused")


@lctl.tool
def count(to: int) -> Iterator[int]:
    for n in range(to):
        print(f"making {n}")
        yield n
    print("made all")


@lctl.tool
async def acount(to: int) -> AsyncIterator[int]:
    for n in range(to):
        print(f"making {n}, async")
        yield n


@lctl.tool
def slow(name: str, steps: int, seconds: float) -> str:
    for n in range(steps):
        print(f"{name}: step {n}")
        time.sleep(seconds)
    return name


@lctl.tool
async def aslow(name: str, steps: int, seconds: float) -> str:
    for n in range(steps):
        print(f"{name}: async step {n}")
        await asyncio.sleep(seconds)
    return name


async def concurrently() -> None:
    async with AsyncOpenAI() as client:
        print(await asyncio.gather(aslow("a", 4, 0.02), aslow("b", 3, 0.03), ask_async(client, "between")))
    async for n in acount(2):
        print("got", n, "async")


if __name__ == "__main__":
    print(look("here"), plan(["x", "y"]))
    try:
        refuse()
    except ValueError as error:
        print("failed:", error)
    for n in count(3):
        print("got", n)
    for n in count(5):
        if n == 1:
            break
    threads = [
        threading.Thread(target=slow, args=(name, 4, pause)) for name, pause in (("t", 0.02), ("u", 0.03))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(concurrently())
    print("done")
