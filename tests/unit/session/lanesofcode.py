"""Which lane the running code is in, while threads and tasks are numbered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from lctl.session.concurrency import lanes, threads
from lctl.session.concurrency.lane import Lane


@pytest.fixture(autouse=True)
def hooked() -> Iterator[None]:
    token = lanes.enter(Lane("0"))
    threads.install()
    threads.reach()
    yield
    threads.uninstall()
    lanes.leave(token)


def here() -> str:
    return lanes.current().path


async def here_later(turns: int = 0) -> str:
    for _ in range(turns):
        await asyncio.sleep(0)
    return here()
