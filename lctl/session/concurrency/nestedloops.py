"""The turns of asyncio's loops, also of those that nest_asyncio makes its own, so that one may run inside of
itself: it puts another `_run_once` on their class, past what stands on asyncio's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from lctl.guard import guard

RunOnce = Callable[[Any], None]
Make = Callable[[RunOnce], RunOnce]

_NAME = "_run_once"
_wraps: list[_Wrap] = []


class _Wrap:
    """What is put on all of them."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._undo: list[tuple[Any, RunOnce, RunOnce]] = []

    def put_on(self, loops: Any) -> None:
        if any(loops is known for known, *_ in self._undo):
            return
        real = loops.__dict__[_NAME]
        ours = self._make(real)
        setattr(loops, _NAME, ours)
        self._undo.append((loops, ours, real))

    def take_off(self) -> None:
        while self._undo:
            loops, ours, real = self._undo.pop()
            if loops.__dict__.get(_NAME) is ours:  # else somebody put theirs on top, which calls it
                setattr(loops, _NAME, real)


def wrap(make: Make) -> Callable[[], None]:
    """Have `make` make of each `_run_once`, those of later too, what runs in its place. What is returned puts
    them back."""
    wrapped = _Wrap(make)
    base = sys.modules["asyncio.base_events"].BaseEventLoop
    for loops in (base, *_nested_of(base)):
        wrapped.put_on(loops)
    _wraps.append(wrapped)

    def undo() -> None:
        if wrapped in _wraps:
            _wraps.remove(wrapped)
        wrapped.take_off()

    return undo


def _nest(original: Callable[[Any], None], loop: Any, /) -> None:
    original(loop)
    with guard("the turns of an event loop"):
        if _is_nested(type(loop)):
            for wrapped in _wraps:
                wrapped.put_on(type(loop))


def _is_nested(loops: Any) -> bool:
    return "_nest_patched" in loops.__dict__ and _NAME in loops.__dict__


def _nested_of(loops: Any) -> Iterator[Any]:
    for more in loops.__subclasses__():
        if _is_nested(more):
            yield more
        yield from _nested_of(more)


#: module, class, function, wrapper
HOOKS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (("nest_asyncio", "", "_patch_loop", _nest),)
