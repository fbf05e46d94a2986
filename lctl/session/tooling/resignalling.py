"""Does again what a tool's body did that others wait for (`signalling`)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def do(thing: Any, what: str, args: list[Any], owed: dict[int, int]) -> None:
    """In the thread of the event loop that it belongs to.

    Args:
        owed: of semaphores, by id: how often it was not to be had, and is not to be given back.
    """
    act = _ACTS.get(what)
    if act is None:
        return

    def done() -> None:
        act(thing, *args) if what not in _OWED else act(thing, owed)

    loop, asyncio = _loop_of(thing), sys.modules.get("asyncio")
    running = None if asyncio is None else asyncio._get_running_loop()
    if loop is None or loop is running:
        done()
    else:
        loop.call_soon_threadsafe(done)


def _loop_of(thing: Any) -> Any:
    """None of what belongs to none, and where nobody has waited for it yet."""
    get = getattr(thing, "get_loop", None)
    return getattr(thing, "_loop", None) if get is None else get()


def _put(queue: Any, item: Any) -> None:
    """Even into one that is full: who takes from it has not come to it yet."""
    mutex = getattr(queue, "mutex", None)
    if mutex is not None:
        with mutex:
            queue._put(item)
            queue.unfinished_tasks += 1
            queue.not_empty.notify()
        return
    queue._put(item)
    queue._unfinished_tasks += 1
    queue._finished.clear()
    queue._wakeup_next(queue._getters)


def _send(stream: Any, item: Any) -> None:
    """Of one that is full, or closed, it fails: that is counted where this is asked for."""
    stream.send_nowait(item)


def _get(queue: Any) -> None:
    mutex = getattr(queue, "mutex", None)
    if mutex is not None:
        with mutex:
            if queue._qsize():
                queue._get()
                queue.not_full.notify()
    elif not queue.empty():
        queue.get_nowait()


def _task_done(queue: Any) -> None:
    if getattr(queue, "_unfinished_tasks", getattr(queue, "unfinished_tasks", 0)) > 0:
        queue.task_done()


def _notify(condition: Any, n: int = 1) -> None:
    """One of asyncio's without its lock, which the loop's thread cannot wait for."""
    if hasattr(condition, "_is_owned"):
        if condition._is_owned():
            condition.notify(n)
        else:
            with condition:
                condition.notify(n)
        return
    waiting = [future for future in condition._waiters if not future.done()]
    for future in waiting[:n]:
        future.set_result(False)


def _acquire(semaphore: Any, owed: dict[int, int]) -> None:
    condition = getattr(semaphore, "_cond", None)
    if condition is not None:
        got = semaphore.acquire(False)
    else:
        got = not semaphore.locked()
        semaphore._value -= got
    if not got:
        owed[id(semaphore)] = owed.get(id(semaphore), 0) + 1


def _release(semaphore: Any, owed: dict[int, int]) -> None:
    if owed.get(id(semaphore), 0):
        owed[id(semaphore)] -= 1
    else:
        semaphore.release()


def _end(future: Any, set_name: str, value: Any) -> None:
    if not future.done():
        getattr(future, set_name)(value)


_OWED = frozenset({"acquire", "release"})
_ACTS: dict[str, Callable[..., None]] = {
    "put": _put,
    "send": _send,
    "get": _get,
    "task_done": _task_done,
    "set": lambda event: event.set(),
    "clear": lambda event: event.clear(),
    "notify": _notify,
    "acquire": _acquire,
    "release": _release,
    "result": lambda future, value: _end(future, "set_result", value),
    "error": lambda future, error: _end(future, "set_exception", error),
}
