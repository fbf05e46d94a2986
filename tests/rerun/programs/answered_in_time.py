"""Answers that come in the very turn of the loop in which a limit of time runs out: anyio lets who has one go on."""

import asyncio

import anyio
from common_limits import ask, compute


async def scoped(n: int) -> None:
    with anyio.move_on_after(0.05) as scope:
        answer = await ask(f"Number {n}")
        print(n, scope.cancel_called, answer)
        return
    print(n, "late")


async def busy() -> None:
    await asyncio.sleep(0.015)
    compute(0.1)


async def main() -> None:
    await asyncio.gather(*(ask("connect") for _ in range(3)))
    for n in range(4):
        await asyncio.gather(scoped(n), busy())
    await asyncio.gather(scoped(4), scoped(5), busy(), scoped(6))


asyncio.run(main())
