"""Limits of time that are over as they are set: what is done before takes longer. Nothing tells a rerun so."""

import asyncio

import anyio
from common_limits import ask, compute


async def limited(seconds: float, *, late: bool) -> str:
    limit = asyncio.timeout(seconds)
    if late:
        compute(0.02)
    try:
        async with limit:
            return await ask("limited")
    except TimeoutError:
        return "late"


async def moved() -> str:
    try:
        async with asyncio.timeout(5) as limit:
            soon = asyncio.get_running_loop().time() + 0.005
            compute(0.02)
            limit.reschedule(soon)
            return await ask("moved")
    except TimeoutError:
        return "late"


async def scoped(seconds: float, *, late: bool) -> str:
    scope = anyio.move_on_after(seconds)
    if late:
        compute(0.02)
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
    for limit in limited, scoped:  # that of the first has run out by the time the second's is set
        both = limit(0.01, late=False), limit(0.005, late=True)
        print(await asyncio.gather(*both, limit(0.015, late=False), limit(5, late=False)))
    print(
        await asyncio.gather(
            *[limit(0, late=False) for limit in (limited, scoped) * 2], limited(5, late=False)
        )
    )


asyncio.run(main())
