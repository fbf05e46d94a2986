"""Who gets a `threading.Semaphore` of the program's own first, as of its queues (`queueorder`).

Where it keeps a limit, several threads wait for it, and who comes anew may be before all of them. Each is
noted between getting it and giving it back, so that the order is one in which it can be had. Giving it back
is not noted: who looked in vain, or not long enough, does so again, even if it could be had by then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from lctl.session.concurrency import queues, signals
from lctl.session.concurrency.queueorder import EMPTY, GET, ORDER, Order, is_made_by_program

#: Seconds of a rerun's own time for which who got it without waiting waits for it.
_PATIENCE = 1.0


def _made(original: Callable[..., None], semaphore: Any, *args: Any, **options: Any) -> None:
    original(semaphore, *args, **options)
    caller: FrameType | None = sys._getframe(2)
    while caller is not None and caller.f_globals.get("__name__") == "threading":  # `BoundedSemaphore`
        caller = caller.f_back
    if caller is not None and is_made_by_program(caller):
        queues.follow(semaphore)


def _acquire(
    original: Callable[..., bool], semaphore: Any, blocking: bool = True, timeout: float | None = None
) -> bool:
    got = _acquired(original, semaphore, blocking, timeout)
    if got:
        signals.note(semaphore, "acquire")
    return got


def _release(original: Callable[..., None], semaphore: Any, n: int = 1) -> None:
    for _ in range(n):
        signals.note(semaphore, "release")
    original(semaphore, n)


def _acquired(original: Callable[..., bool], semaphore: Any, blocking: bool, timeout: float | None) -> bool:
    order: Order | None = semaphore.__dict__.get(ORDER)
    module = sys.modules.get("threading")
    if order is None or module is None:  # Python is shutting down
        return original(semaphore, blocking, timeout)
    time = module._time
    began = time()  # in a rerun, on virtual time
    lane = queues.begun(order, sys._getframe(3))
    if lane is None:
        return original(semaphore, blocking, timeout)
    if timeout is not None or not blocking:
        order.is_awaited = False
    if blocking and timeout is not None and timeout > 0 and order.turns is not None:
        timeout = max(0.0, timeout - (time() - began))
    came: str | None = None
    try:
        due = None if blocking and timeout is None else order.due(lane)
        if due == GET:  # who has it now had given it back
            blocking, timeout = True, max(timeout or 0.0, _PATIENCE)
        got = due != EMPTY and original(semaphore, blocking, timeout)
        came = GET if got else EMPTY
        return got
    finally:
        queues.ended(order, lane, came)


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("threading", "Semaphore", "__init__", _made),
    ("threading", "Semaphore", "acquire", _acquire),
    ("threading", "Semaphore", "__enter__", _acquire),
    ("threading", "Semaphore", "release", _release),
    ("threading", "BoundedSemaphore", "release", _release),
)
