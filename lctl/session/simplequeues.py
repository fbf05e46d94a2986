"""`queue.SimpleQueue` as the program makes it: a queue whose order is kept (`lctl.session.queueorder`).

It is written in C, and nothing tells in which order it gave and took. So the program gets one that keeps its
items in a `queue.Queue`; libraries, executors above all, get Python's own. What Python promises of it holds:
who is interrupted in `put` (by a signal, a finalizer) may put there again.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from lctl.session.queueorder import is_made_by_program

NAME = "SimpleQueue"


def replacement(module: Any, active: list[bool]) -> type:
    """A class in the place of `module.SimpleQueue`.

    Args:
        module: `queue`.
        active: empty once it is out of use; then it makes Python's own.
    """
    plain: type = getattr(module, NAME)

    class Kind(type):
        """Python's own are instances, too."""

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, plain) if cls is ours else type.__instancecheck__(cls, instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, plain) if cls is ours else type.__subclasscheck__(cls, subclass)

    class SimpleQueue(plain, metaclass=Kind):  # type: ignore[misc]
        _kept: Any = None

        def __new__(cls, *args: Any, **options: Any) -> Any:
            if not active or not is_made_by_program(sys._getframe(1)):
                return plain.__new__(plain if cls is ours else cls, *args, **options)
            made = plain.__new__(cls, *args, **options)
            made._kept = _reentrant(module.Queue())
            return made

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            return super().get(block, timeout) if self._kept is None else self._kept.get(block, timeout)

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            if self._kept is None:
                super().put(item)
            else:
                self._kept.put(item)

        def get_nowait(self) -> Any:
            return self.get(False)

        def put_nowait(self, item: Any) -> None:
            self.put(item)

        def empty(self) -> bool:
            return super().empty() if self._kept is None else bool(self._kept.empty())

        def qsize(self) -> int:
            return super().qsize() if self._kept is None else int(self._kept.qsize())

    ours = SimpleQueue
    for name in ("__module__", "__qualname__", "__doc__"):
        setattr(ours, name, getattr(plain, name))
    return ours


def _reentrant(kept: Any) -> Any:
    kept.mutex = threading.RLock()
    for name in ("not_empty", "not_full", "all_tasks_done"):
        setattr(kept, name, threading.Condition(kept.mutex))
    return kept
