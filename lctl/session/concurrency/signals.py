"""What others wait for, and what a tool's body does with it: hooks.

An item in a queue, an event that is set, a future's result: a rerun, which does not run the body, does the
same with them (`lctl.session.tooling.signalling`). Only what is done in a body is told, and by no more than
a look at the lane elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lctl.guard import guard
from lctl.session.concurrency import lanes

_PLACE = "what a tool did that others wait for"

#: By module and name of the class that it is, or is derived from.
_KINDS = frozenset(
    {
        ("asyncio.queues", "Queue"),
        ("asyncio.locks", "Event"),
        ("asyncio.locks", "Condition"),
        ("asyncio.locks", "Semaphore"),
        ("_asyncio", "Future"),
        ("asyncio.futures", "Future"),
        ("concurrent.futures._base", "Future"),
        ("queue", "Queue"),
        ("_queue", "SimpleQueue"),
        ("anyio.streams.memory", "MemoryObjectSendStream"),
        ("trio", "MemorySendChannel"),
        ("trio._channel", "MemorySendChannel"),
        ("trio", "Event"),
        ("trio._sync", "Event"),
        ("threading", "Event"),
        ("threading", "Condition"),
        ("threading", "Semaphore"),
    }
)
#: What a method of theirs is called here that is handed to an event loop.
_HANDED = {
    "put_nowait": "put",
    "set": "set",
    "clear": "clear",
    "release": "release",
    "set_result": "result",
    "set_exception": "error",
}

_known: dict[type, bool] = {}


def is_waited_for(kind: type) -> bool:
    """Whether objects of this class are such as others wait for. No task: it ends by itself."""
    found = _known.get(kind)
    if found is None:
        of = {(base.__module__, base.__name__) for base in kind.__mro__}
        is_task = ("_asyncio", "Task") in of or ("asyncio.tasks", "Task") in of
        found = _known[kind] = not is_task and not _KINDS.isdisjoint(of)
    return found


def note(thing: Any, what: str, *args: Any) -> None:
    """It is done with `thing` here."""
    signals = lanes.current().signals
    if signals is None:
        return
    try:
        guard.rehearse(_PLACE)
        signals.note(thing, what, args)
    except Exception as error:
        if guard.policy == "raise":
            raise
        guard.failed(_PLACE, error)


def _after(what: str) -> Callable[..., Any]:
    def hook(original: Callable[..., Any], thing: Any, *args: Any, **options: Any) -> Any:
        made = original(thing, *args, **options)
        note(thing, what, *(args or options.values()) if what in _WITH_ARGUMENTS else ())
        return made

    return hook


def _before(what: str) -> Callable[..., Any]:
    """Who waits for it goes on by it, and what that does is not to be noted first."""

    def hook(original: Callable[..., Any], thing: Any, *args: Any, **options: Any) -> Any:
        note(thing, what, *(args or options.values()) if what in _WITH_ARGUMENTS else ())
        return original(thing, *args, **options)

    return hook


_WITH_ARGUMENTS = frozenset({"put", "send", "result", "error", "notify"})


async def _acquired(original: Callable[..., Any], semaphore: Any) -> Any:
    made = await original(semaphore)
    note(semaphore, "acquire")
    return made


def _handed(original: Callable[..., Any], loop: Any, callback: Any, *args: Any, **options: Any) -> Any:
    signals = lanes.current().signals
    if signals is not None:
        thing, what = getattr(callback, "__self__", None), _HANDED.get(getattr(callback, "__name__", ""))
        if what is not None and is_waited_for(type(thing)):
            with guard(_PLACE):
                signals.note(thing, what, args, is_handed=True)
    return original(loop, callback, *args, **options)


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("asyncio.queues", "Queue", "put_nowait", _after("put")),
    ("asyncio.queues", "Queue", "get_nowait", _after("get")),
    ("asyncio.queues", "Queue", "task_done", _after("task_done")),
    ("asyncio.locks", "Event", "set", _before("set")),
    ("asyncio.locks", "Event", "clear", _before("clear")),
    ("asyncio.locks", "Condition", "notify", _before("notify")),
    ("asyncio.locks", "Semaphore", "acquire", _acquired),
    ("asyncio.locks", "Semaphore", "release", _before("release")),
    ("asyncio.base_events", "BaseEventLoop", "call_soon_threadsafe", _handed),
    ("concurrent.futures._base", "Future", "set_result", _before("result")),
    ("concurrent.futures._base", "Future", "set_exception", _before("error")),
    ("anyio.streams.memory", "MemoryObjectSendStream", "send_nowait", _after("send")),
    ("trio._channel", "MemorySendChannel", "send_nowait", _after("send")),
    ("trio._sync", "Event", "set", _before("set")),
    ("queue", "Queue", "task_done", _after("task_done")),
    ("threading", "Condition", "notify", _before("notify")),
)
