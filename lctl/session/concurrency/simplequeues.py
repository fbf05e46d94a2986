"""`queue.SimpleQueue` as the program makes it: a queue whose order is kept (`queueorder`).

It is written in C, and nothing tells in which order it gave and took. So the program gets one that keeps its
items in a `queue.Queue`; libraries, executors above all, get Python's own. What Python promises of it holds:
who is interrupted in `put` (by a signal, a finalizer) may put there again.
"""

from __future__ import annotations

import sys
import threading
from abc import ABCMeta
from functools import wraps
from typing import Any

from lctl.session.concurrency.queueorder import is_made_by_program

NAME = "SimpleQueue"


def replacement(module: Any, active: list[bool]) -> type:
    """A class in the place of `module.SimpleQueue`.

    Args:
        module: `queue`.
        active: empty once it is out of use; then it makes Python's own.
    """
    plain: Any = getattr(module, NAME)

    class Kind(ABCMeta):  # what the program derives from it may be abstract
        """Python's own are instances, too."""

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain) if cls is ours else super().__instancecheck__(instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, plain) if cls is ours else super().__subclasscheck__(subclass)

    class SimpleQueue(plain, metaclass=Kind):  # type: ignore[misc]
        __slots__ = ("_lctl_kept",)
        _lctl_kept: Any

        def __new__(cls, *args: Any, **options: Any) -> Any:
            is_followed = bool(active) and is_made_by_program(sys._getframe(1))
            made = plain.__new__(plain if cls is ours and not is_followed else cls, *args, **options)
            if type(made) is not plain:
                made._lctl_kept = _reentrant(module.Queue()) if is_followed else None
            return made

        @wraps(plain.get)
        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            return (
                super().get(block, timeout)
                if self._lctl_kept is None
                else self._lctl_kept.get(block, timeout)
            )

        @wraps(plain.put)
        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            if self._lctl_kept is None:
                super().put(item)
            else:
                self._lctl_kept.put(item)

        # As in Python's own, `get` and `put` of a class derived from it have no part in these.
        @wraps(plain.get_nowait)
        def get_nowait(self) -> Any:
            return super().get_nowait() if self._lctl_kept is None else self._lctl_kept.get(False)

        @wraps(plain.put_nowait)
        def put_nowait(self, item: Any) -> None:
            if self._lctl_kept is None:
                super().put_nowait(item)
            else:
                self._lctl_kept.put(item)

        @wraps(plain.empty)
        def empty(self) -> bool:
            return super().empty() if self._lctl_kept is None else bool(self._lctl_kept.empty())

        @wraps(plain.qsize)
        def qsize(self) -> int:
            return super().qsize() if self._lctl_kept is None else int(self._lctl_kept.qsize())

    ours = SimpleQueue
    ours.__module__ = module.__name__  # where pickle finds it
    ours.__qualname__, ours.__doc__ = plain.__qualname__, plain.__doc__
    return ours


def _reentrant(kept: Any) -> Any:
    kept.mutex = threading.RLock()
    for name in ("not_empty", "not_full", "all_tasks_done"):
        setattr(kept, name, threading.Condition(kept.mutex))
    return kept
