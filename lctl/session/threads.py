"""The running step follows the work into threads and thread pools.

asyncio copies context variables into tasks; `threading` and `concurrent.futures` do not. Only lctl's own
variable is carried: other libraries' contexts stay as the program has them. In place while some session
is open, gone without a trace after.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from lctl.session import context

_users = 0
_lock = threading.Lock()
_undo: list[tuple[type, str, Any, Any]] = []


def install() -> None:
    """Carry the step from now on; every call is undone by one of `uninstall`."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _replace(threading.Thread, "start", _start)
        _reach_pools()


def uninstall() -> None:
    global _users
    with _lock:
        _users -= 1
        if _users:
            return
        while _undo:
            owner, name, original, ours = _undo.pop()
            if owner.__dict__.get(name) is ours:  # else somebody wrapped it after us: leave theirs
                setattr(owner, name, original)


def after_fork() -> None:
    """In the child: another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()


def carry(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, running in the step that is current now."""
    frame = context.current()

    def carried(*args: Any, **kwargs: Any) -> Any:
        token = context.enter(frame)
        try:
            return function(*args, **kwargs)
        finally:
            context.leave(token)

    return carried


def _start(original: Callable[[Any], None], thread: threading.Thread) -> None:
    frame = context.current()
    _reach_pools()
    if frame is not None:
        run = thread.run

        def run_in_step() -> None:
            thread.__dict__.pop("run", None)
            context.set_current(frame)
            run()

        thread.run = run_in_step  # type: ignore[method-assign]
    original(thread)


def _submit(original: Callable[..., Any], pool: Any, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    # Without a step too: the worker thread may carry the one of whoever started it.
    return original(pool, carry(function), *args, **kwargs)


def _reach_pools() -> None:
    """Wrap the pools' `submit` once the program has imported them (importing them here costs 10 ms)."""
    pools = sys.modules.get("concurrent.futures.thread")
    executor = getattr(pools, "ThreadPoolExecutor", None)
    if executor is not None and _users and all(owner is not executor for owner, *_ in _undo):
        _replace(executor, "submit", _submit)


def _replace(owner: type, name: str, wrapper: Callable[..., Any]) -> None:
    from functools import wraps

    original = owner.__dict__[name]

    @wraps(original)
    def ours(*args: Any, **kwargs: Any) -> Any:
        return wrapper(original, *args, **kwargs)

    setattr(owner, name, ours)
    _undo.append((owner, name, original, ours))
