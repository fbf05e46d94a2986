"""Answers worked out of a log, kept for as long as the log is as it was."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

Value = TypeVar("Value")

_MOST = 24  # answers kept


class Kept:
    """By name. Safe to use from several threads.

    Args:
        lock: of what the answers are about, held while that changes.
    """

    def __init__(self, lock: AbstractContextManager[Any]) -> None:
        self._lock = lock
        self._version = 0
        self._found: OrderedDict[Any, Any] = OrderedDict()
        self._passing: OrderedDict[Any, Any] = OrderedDict()

    def clear(self) -> None:
        """They no longer hold, nor do those being made."""
        with self._lock:
            self._version += 1
            self._found.clear()
            self._passing.clear()

    def get(self, name: Any, make: Callable[[], Value], *, passing: bool = False) -> Value:
        """The answer of that name, made if there is none: see `Opened.kept`."""
        kept = self._passing if passing else self._found
        with self._lock:
            if name in kept:
                kept.move_to_end(name)
                value: Value = kept[name]
                return value
            version = self._version
        value = make()
        with self._lock:
            if version == self._version:
                kept[name] = value
                while len(kept) > _MOST:
                    kept.popitem(last=False)
        return value
