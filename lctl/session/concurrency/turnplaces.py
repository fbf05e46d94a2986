"""Where in its turn something reached an event loop: how many of the program's own callbacks ran behind it.

What tasks do in one turn depends on who of them runs first. Counted from the end of the turn, and without
what brings results (threads, sockets, calls that are under way), which a rerun has otherwise: there, what a
call gave comes without the transport's or the thread's own callbacks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Container
from itertools import islice
from typing import Any

from lctl.session.concurrency import lanes, spawning, turns
from lctl.session.concurrency.lane import Accepting, Lane


def behind(under_way: Callable[[], Collection[str]]) -> int | None:
    """How many run behind the callback that runs in this thread, in its turn; None for none, and where that
    cannot be told.

    Args:
        under_way: gives the lanes of the calls that are.
    """
    loop = turns.running()
    ready = getattr(loop, "_ready", None)
    if not ready:
        return None
    frame = sys._getframe(1).f_back
    while frame is not None and frame.f_code.co_name != "_run_once":
        frame = frame.f_back
    counted = {} if frame is None else frame.f_locals  # asyncio's: `i` of `ntodo`
    many, at = counted.get("ntodo"), counted.get("i")
    if not isinstance(many, int) or not isinstance(at, int) or many - 1 <= at:
        return None
    left = list(islice(ready, many - 1 - at))  # at once: other threads hand in more
    busy = under_way()
    return sum(is_own(handle, busy) for handle in left) or None


def index(ready: Any, many: int, busy: Container[str]) -> int:
    """Where to put what `many` callbacks are to run behind, among those of a turn."""
    there = list(ready)  # at once: other threads hand in more
    place = len(there)
    for at in range(len(there) - 1, -1, -1):
        if not many:
            break
        if is_own(there[at], busy):
            many -= 1
            place = at
    return place


def lane_of(handle: Any) -> str:
    """The path of the lane that a callback runs in; empty where it says none."""
    try:
        lane: Lane = handle._context.get(lanes.variable, lanes.MAIN)
        return lane.path
    except Exception:  # whatever somebody handed to the loop
        return ""


def is_own(handle: Any, busy: Container[str]) -> bool:
    """Whether a rerun has this callback as well, in the same turn. Not one that says nothing of itself."""
    try:
        return _has_place(handle, busy)
    except Exception:  # whatever somebody handed to the loop
        return False


def _has_place(handle: Any, busy: Container[str]) -> bool:
    callback = handle._callback
    if handle._cancelled or callback is None or hasattr(handle, "_when"):  # a library's timer: of no order
        return False
    callback = getattr(callback, "func", callback)
    owner = getattr(callback, "__self__", None)
    coroutine = getattr(owner, "get_coro", None)
    if coroutine is not None:
        if turns.is_closing(coroutine()):
            return False
    elif owner is not None:
        module = type(owner).__module__
        if module.startswith(("asyncio.", "lctl.")) and module != "asyncio.taskgroups":
            return False
    elif _brings(callback):
        return False
    lane = handle._context.get(lanes.variable, lanes.MAIN)
    if lane.tool is not None or type(lane) is Accepting or lanes.is_aside(lane.path):
        return False
    return lane.path not in busy or (coroutine is not None and _limits(coroutine()))


def _limits(coroutine: Any) -> bool:
    """Whether it is in an `asyncio.wait_for` that has made a task, which has its lane: that makes the calls
    that are under way there."""
    if spawning.wait_for is None:
        return False
    inner = coroutine
    while (further := getattr(inner, "cr_await", None)) is not None and hasattr(further, "cr_await"):
        inner = further
    return getattr(inner, "cr_code", None) is spawning.wait_for


def _brings(function: Any) -> bool:
    """Whether it hands on what a thread gave."""
    name, module = (str(getattr(function, key, "")) for key in ("__qualname__", "__module__"))
    return name.startswith("_chain_future.") or module.startswith("lctl.")
