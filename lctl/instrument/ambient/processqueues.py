"""Queues of `multiprocessing` (`Queue`, `JoinableQueue`, `SimpleQueue`, those of managers): which process
took which item.

Who is first at the pipe is the system's affair. So what the program's own code takes is noted, by its digest,
as a read; and in a rerun a process, and a thread of it, takes what it took (`itemsources`).
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType, ModuleType
from typing import Any

from lctl.instrument.ambient import reads, slots
from lctl.instrument.ambient.callers import is_lctl, own
from lctl.instrument.ambient.itemsources import (
    Got,
    Managed,
    Pipe,
    Source,
    awaited,
    digest_of,
    dumps,
    taken_early,
)
from lctl.instrument.hooks import on_import
from lctl.session.sources import ITEMS

_getframe = sys._getframe
_LOOKS = frozenset({"empty", "full", "qsize"})
_TAKES = frozenset({"get", "get_nowait"})
#: Modules that run what they are given.
_RUNNERS = frozenset({"concurrent.futures.thread", "threading"})


class _Last(threading.local):
    """The bytes of what a thread has taken."""

    raw = b""


_last = _Last()


def install() -> None:
    slots.on_undo(on_import("multiprocessing.queues", _replace).remove)
    slots.on_undo(on_import("multiprocessing.managers", _replace_proxies).remove)


def _replace(module: ModuleType) -> None:
    if not reads.active():
        return
    for kind in (module.Queue, module.SimpleQueue):
        real = vars(kind)["get"]
        slots.replace(kind, "get", slots.like(_get(real), real))
        if "get_nowait" in vars(kind):
            slots.replace(kind, "get_nowait", slots.like(_get_nowait(real), vars(kind)["get_nowait"]))
        for name in sorted(_LOOKS & vars(kind).keys()):
            slots.replace(kind, name, slots.like(_look(vars(kind)[name]), vars(kind)[name]))


def _get(real: Callable[..., Any]) -> Callable[..., Any]:
    def get(self: Any, *args: Any, **options: Any) -> Any:
        frame = _asker(_getframe(1))
        return real(self, *args, **options) if frame is None else _piped(self, frame, real, args, options)

    return get


def _get_nowait(real: Callable[..., Any]) -> Callable[..., Any]:
    def get_nowait(self: Any) -> Any:
        frame = _asker(_getframe(1))
        return real(self, False) if frame is None else _piped(self, frame, real, (False,), {})

    return get_nowait


def _look(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def look(self: Any) -> Any:
        frame = _asker(_getframe(1))
        return real(self) if frame is None else _seen(real.__name__, frame, lambda: real(self))

    return look


def _replace_proxies(module: ModuleType) -> None:
    if not reads.active():
        return
    real = module.BaseProxy._callmethod

    def _callmethod(self: Any, methodname: str, args: Any = (), kwds: Any = {}) -> Any:  # noqa: B006
        if methodname not in _TAKES | _LOOKS or "put_nowait" not in getattr(self, "_exposed_", ()):
            return real(self, methodname, args, kwds)
        frame = _asker(_getframe(1))
        if frame is None:
            return real(self, methodname, args, kwds)
        if methodname in _LOOKS:
            return _seen(methodname, frame, lambda: real(self, methodname, args, kwds))

        def take() -> tuple[Any, bytes]:
            item = real(self, methodname, args, kwds)
            return item, dumps(item)

        return _taken(Managed(self, real), frame, take)

    slots.replace(module.BaseProxy, "_callmethod", slots.like(_callmethod, real))


def _asker(frame: FrameType | None) -> FrameType | None:
    """Whose code asks, where it is the program's. A thread, or a job of a pool, that does nothing else counts
    as such (`asyncio.to_thread(queue.get)`)."""
    found = own(frame)
    while found is None and frame is not None and _is_between(frame.f_code.co_filename):
        frame = frame.f_back
    if found is None and frame is not None and frame.f_globals.get("__name__") in _RUNNERS:
        return frame
    return found


def _is_between(file: str) -> bool:
    return is_lctl(file) or file == "<string>"  # of which the methods of proxies are made


def _piped(self: Any, frame: FrameType, real: Callable[..., Any], args: Any, options: Any) -> Any:
    def take() -> tuple[Any, bytes]:
        _watch(self)
        return real(self, *args, **options), _last.raw

    return _taken(Pipe(self), frame, take)


def _taken(source: Source, frame: FrameType, take: Callable[[], tuple[Any, bytes]]) -> Any:
    """The item that the program takes; by `take`, which gives its bytes, too, where it takes one for real."""

    def real() -> Got:
        early = taken_early(source)
        if early is not None:
            return early
        try:
            item, raw = take()
        except queue.Empty:
            return Got(None, "")
        return Got(item, digest_of(raw))

    got = reads.read(ITEMS, "Queue.get", frame, real, lambda got: got.digest, partial(awaited, source))
    if not got.digest:
        raise queue.Empty
    return got.item


def _seen(name: str, frame: FrameType, real: Callable[[], Any]) -> Any:
    return reads.read(ITEMS, f"Queue.{name}", frame, real, decode=lambda said: said[0])


def _watch(self: Any) -> None:
    """Have the bytes of an item kept that this thread takes."""
    holder, name = (self, "_recv_bytes") if hasattr(self, "_recv_bytes") else (self._reader, "recv_bytes")
    real = getattr(holder, name)
    if real.__name__ == "kept_bytes":
        return

    def kept_bytes(*args: Any) -> bytes:
        _last.raw = raw = real(*args)
        return raw  # type: ignore[no-any-return]

    setattr(holder, name, kept_bytes)
