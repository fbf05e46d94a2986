"""Bodies of answers that a rerun gives to httpx's clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from lctl.instrument.serving.httpx import _AsyncStream


class _Waits:
    """An answer whose stream ends when its turn has come."""

    error = None

    def __init__(self) -> None:
        self.due = asyncio.Event()

    async def chunks_async(self) -> AsyncIterator[bytes]:
        try:
            yield b"first"
            yield b"second"
        except GeneratorExit:
            await self.due.wait()
            raise


def test_a_body_that_the_ending_loop_closes_may_be_closed_by_its_reader_too() -> None:
    async def left() -> bytes:
        answer: Any = _Waits()
        players: Any = None
        stream = _AsyncStream(players, answer, None, None)
        first = await anext(aiter(stream))
        closing = asyncio.create_task(stream._chunks.aclose())
        await asyncio.sleep(0)
        await stream.aclose()
        answer.due.set()
        await closing
        return first

    assert asyncio.run(left()) == b"first"
