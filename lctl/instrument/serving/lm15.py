"""Served answers for lm15: its own response classes, over the recorded chunks."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

from lctl.instrument.serving import pairs, reason_of
from lctl.instrument.serving.errors import revive
from lctl.session.border import Answer

_PACKAGE = "dspy._vendor.lm15.transports"


def response(answer: Answer) -> Any:
    """The response; raises the recorded error where there is none."""
    answer.wait()
    if answer.status is None:
        raise _error(answer)
    types = sys.modules[f"{_PACKAGE}._types"]
    return types.TransportResponse(**_head(answer), chunks=_chunks(answer), release=lambda consumed: None)


async def response_async(answer: Answer) -> Any:
    await answer.wait_async()
    if answer.status is None:
        raise _error(answer)
    types = sys.modules[f"{_PACKAGE}._types"]
    chunks = answer.chunks_async()

    async def release(consumed: bool) -> None:
        closed = getattr(answer, "closed_async", None)
        if closed is not None:
            await closed()

    return types.AsyncTransportResponse(
        **_head(answer), chunks=_chunks_async(answer, chunks), release=release
    )


def _head(answer: Answer) -> dict[str, Any]:
    status = answer.status or 0
    return {
        "status": status,
        "reason": reason_of(answer),
        "headers": pairs(answer),
        "http_version": "HTTP/1.1",
    }


def _chunks(answer: Answer) -> Iterator[bytes]:
    yield from answer.chunks()
    if answer.error is not None:
        raise _error(answer)


async def _chunks_async(answer: Answer, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk
    if answer.error is not None:
        raise _error(answer)


def _error(answer: Answer) -> BaseException:
    assert answer.error is not None
    return revive(answer.error, sys.modules[f"{_PACKAGE}._exceptions"].TransportError)
