"""A forked process that leaves by `os._exit`, as workers of task queues do: its logs are closed before.

Of the process that it was forked from `os._exit` is a crash, of which a log tells that nobody closed it.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from typing import Any, NoReturn

from lctl.guard import guard

#: Seconds. What is interrupted by who leaves may hold what closing waits for: no exit waits for ever.
_PATIENCE = 3.0

_exit: Any = None
#: What is to be called, by the process that it was said in.
_closing: list[tuple[int, Callable[[], object]]] = []


def close_before(close: Callable[[], object]) -> None:
    """Call it, once, when this process leaves by `os._exit`; what was said last comes first."""
    global _exit
    here = (os.getpid(), close)
    if here not in _closing:
        _closing[:] = [known for known in _closing if known[0] == here[0]] + [here]
    if _exit is None:
        _exit = os._exit
        os._exit = _leave


def _leave(status: int) -> NoReturn:
    mine = [close for process, close in _closing if process == os.getpid()]
    _closing.clear()
    if mine:
        done = allocate_lock()
        done.acquire()
        try:
            start_new_thread(_close, (mine, done.release))
            done.acquire(True, _PATIENCE)
        except BaseException:
            pass  # no thread to be had, or an interrupt: the process ends, as it was to
    _exit(status)
    raise AssertionError("os._exit returned")


def _close(closing: list[Callable[[], object]], done: Callable[[], object]) -> None:
    """In a thread of its own: the one that leaves may be in the midst of something of ours."""
    for close in reversed(closing):
        with guard("the end of a forked process"):
            close()
    done()
