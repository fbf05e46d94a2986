"""Threads that views run in: few, as each that was ever used keeps memory of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread

Value = TypeVar("Value")

_AT_ONCE = 6
_limiters: WeakKeyDictionary[Any, anyio.CapacityLimiter] = WeakKeyDictionary()


async def in_thread(function: Callable[..., Value], *arguments: Any) -> Value:
    """What the function gives, run in one of the threads of this event loop."""
    loop = asyncio.get_running_loop()
    limiter = _limiters.get(loop)
    if limiter is None:
        limiter = _limiters[loop] = anyio.CapacityLimiter(_AT_ONCE)
    return await anyio.to_thread.run_sync(function, *arguments, limiter=limiter)
