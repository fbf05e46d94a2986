"""Lanes of tasks: asyncio's (uvloop's too) and trio's, given when the task is made.

A task copies the context it is made in, so the child's lane is current while it is made. Where the caller
gives a context that is not copied, the lane is put into that one. What wraps a function has its parameters'
names, by which programs may give them.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Generator
from contextvars import Context
from typing import Any

from lctl.session.concurrency import lanes, ordered, poolwaits, spawning, taskwaits, turns
from lctl.session.concurrency.lane import Accepting, Lane

#: Coroutines of a loop's own end.
_ENDINGS = frozenset({"shutdown_asyncgens", "shutdown_default_executor"})
#: In which it takes a connection to a server.
_ACCEPTS = "_accept_connection2"
#: What finalizers of model clients have done (Mistral's), which another one's loop may begin later.
_CLOSINGS = frozenset({"AsyncClient.aclose"})
#: What calls the functions of `weakref.finalize`.
_FINALIZE = weakref.finalize.__call__.__code__
#: How far above the hook a finalizer stands that makes a task: behind what wraps it, and `create_task`.
_ABOVE = 5


def _create_task(original: Callable[..., Any], loop: Any, coro: Any, **options: Any) -> Any:
    lane = lanes.current().aside() if _is_ending(coro) else spawning.child()
    if getattr(coro, "__name__", None) == _ACCEPTS and type(lane) is Lane:
        lane.__class__ = Accepting
    given: Context | None = options.get("context")
    if given is not None:
        try:
            given.run(lanes.enter, lane)
        except RuntimeError:  # it is the running one: its lane stays
            pass
        return _marked(original(loop, coro, **options), lane)
    token = lanes.enter(lane)
    try:
        return _marked(original(loop, coro, **options), lane)
    finally:
        lanes.leave(token)


def _marked(task: Any, lane: Lane) -> Any:
    try:
        setattr(task, turns.LANE, lane)
    except AttributeError:  # of a task factory's own kind
        pass
    return task


def _is_ending(coroutine: Any) -> bool:
    """Whether a loop makes a task of it on its own account, or a client that was thrown away: its finalizer
    runs when the collector of garbage comes by."""
    if getattr(coroutine, "__name__", None) in _ENDINGS or turns.is_closing(coroutine):
        return True
    return getattr(coroutine, "__qualname__", None) in _CLOSINGS or _is_finalizing()


def _is_finalizing() -> bool:
    """Whether a `__del__` makes it, a few calls above (those of openai, anthropic and google-genai do), or a
    function that was given to `weakref.finalize`."""
    frame = sys._getframe(2)
    for _ in range(_ABOVE):
        caller = frame.f_back
        if caller is None:
            return False
        frame = caller
        if frame.f_code.co_name == "__del__" or frame.f_code is _FINALIZE:
            return True
    return False


def _spawn_trio(original: Callable[..., Any], runner: Any, *args: Any, **options: Any) -> Any:
    given: Context | None = options.get("context")
    system = options.get("system_task", False)
    lane = lanes.current().aside() if system else spawning.child()
    if given is not None:
        try:
            given.run(lanes.enter, lane)
        except RuntimeError:
            pass
        return original(runner, *args, **options)
    token = lanes.enter(lane)
    try:
        return original(runner, *args, **options)
    finally:
        lanes.leave(token)


def _run_coroutine_threadsafe(original: Callable[..., Any], coro: Any, loop: Any) -> Any:
    """The task is made later, in the loop's thread; its place among what this thread starts is now."""
    token = lanes.enter(lanes.current().aside() if _is_ending(coro) else spawning.reserved())
    try:
        return original(coro, loop)
    finally:
        lanes.leave(token)


def _as_completed(
    original: Callable[..., Any], fs: Any, *args: Any, **options: Any
) -> Generator[Any, Any, Any] | Any:
    """asyncio makes the tasks in the order of a set of coroutines, that is of their addresses."""
    if sys.version_info >= (3, 13):
        return original(_ensured(fs), *args, **options)
    return _lazily(original, fs, args, options)


def _lazily(original: Callable[..., Any], futures: Any, args: Any, options: Any) -> Generator[Any, Any, Any]:
    yield from original(_ensured(futures), *args, **options)


def _ensured(futures: Any) -> Any:
    """Each a future, in the order given; as it is where asyncio will refuse it."""
    asyncio = sys.modules["asyncio"]
    if asyncio.isfuture(futures) or asyncio.iscoroutine(futures) or hasattr(futures, "__aiter__"):
        return futures
    each = list(dict.fromkeys(futures))
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return each
    return [asyncio.ensure_future(one, loop=loop) for one in each]


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("asyncio.base_events", "BaseEventLoop", "create_task", _create_task),
    ("uvloop", "Loop", "create_task", _create_task),
    ("trio._core._run", "Runner", "spawn_impl", _spawn_trio),
    ("asyncio.tasks", "", "run_coroutine_threadsafe", _run_coroutine_threadsafe),
    ("asyncio", "", "run_coroutine_threadsafe", _run_coroutine_threadsafe),
    ("asyncio.tasks", "", "as_completed", _as_completed),
    ("asyncio", "", "as_completed", _as_completed),
    *ordered.HOOKS,
    *poolwaits.HOOKS,
    *taskwaits.HOOKS,
)


def learn() -> None:
    """Know asyncio's own functions where their version matters."""
    if sys.version_info < (3, 12) and spawning.wait_for is None and "asyncio.tasks" in sys.modules:
        spawning.wait_for = sys.modules["asyncio.tasks"].wait_for.__code__
