"""Tracebacks of what a program's functions raise have no line of lctl's, in a session or out of one."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from lctl.session import LCTLSession, tool, traced


@tool
def plain() -> None:
    raise ValueError("plain")


@tool
def items() -> Iterator[int]:
    yield 1
    raise ValueError("items")


@tool
async def coroutine() -> None:
    raise ValueError("coroutine")


@tool
async def stream() -> AsyncIterator[int]:
    yield 1
    raise ValueError("stream")


async def drained() -> list[int]:
    return [item async for item in stream()]


def divide() -> float:
    return 1 / 0


def in_a_pool() -> float:
    with ThreadPoolExecutor() as pool:
        return pool.submit(divide).result()


def in_a_thread() -> None:
    raised: list[BaseException | None] = []
    hook, threading.excepthook = threading.excepthook, lambda told: raised.append(told.exc_value)
    try:
        thread = threading.Thread(target=divide)
        thread.start()
        thread.join()
    finally:
        threading.excepthook = hook
    [error] = raised
    assert error is not None
    raise RuntimeError from error


@traced
def step() -> None:
    pass


def wrong(function: Any) -> Callable[[], object]:
    """It is called with arguments that it does not take, as models give them."""

    async def waited() -> None:
        given = function(place="?")
        if hasattr(given, "__aiter__"):
            [item async for item in given]
        else:
            await given

    def used() -> object:
        return list(function(place="?"))

    is_async = function in (coroutine, stream)
    return (lambda: asyncio.run(waited())) if is_async else used


CASES: list[Callable[[], object]] = [
    plain,
    lambda: list(items()),
    lambda: asyncio.run(coroutine()),
    lambda: asyncio.run(drained()),
    in_a_pool,
    lambda: asyncio.run(asyncio.to_thread(divide)),
    in_a_thread,
    *map(wrong, (plain, items, coroutine, stream, step, tool(len))),
]


@pytest.mark.parametrize("case", CASES)
def test_they_name_the_program_s_own_lines(case: Callable[[], object], tmp_path: Path) -> None:
    def lines() -> list[str]:
        with pytest.raises(Exception) as caught:
            case()
        return [
            *told(caught.value.__traceback__),
            *told(getattr(caught.value.__cause__, "__traceback__", None)),
        ]

    def told(trace: TracebackType | None) -> list[str]:
        return [f"{line.filename}:{line.name}" for line in traceback.extract_tb(trace)]

    outside = lines()
    with LCTLSession(path=tmp_path / "run.lctl.json"):
        within = lines()
    assert within == outside
    assert not [line for line in outside if "/lctl/session/" in line]
