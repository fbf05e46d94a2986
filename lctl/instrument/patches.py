"""Patching classes so that every trace of it can be taken away again. The only importer of wrapt.

`setattr(cls, name, getattr(cls, name).__wrapped__)` is the usual way to undo a patch and is wrong: it
turns static methods into methods, binds class methods to the base, and leaves copies of inherited
methods on subclasses. So each patch remembers the descriptor it replaced and whether the class itself
held it. Undoing also must not drop a wrapper somebody else put on top of ours: while ours is not
outermost it stays, disabled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lctl.guard import guard

#: A wrapper as wrapt calls it: (wrapped, instance, args, kwargs) -> result.
Wrapper = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]


class Patch:
    """One replaced attribute."""

    __slots__ = ("_active", "_attribute", "_original", "_parent", "_was_there", "installed", "point")

    def __init__(self, module: ModuleType, path: str, wrapper: Wrapper) -> None:
        import wrapt  # 40 ms: paid when something is patched, not when recording is set up

        self.point = f"{module.__name__}:{path}"
        self._parent, self._attribute, self._original = wrapt.resolve_path(module, path)
        self._was_there = self._attribute in vars(self._parent)
        # wrapt asks whether it holds anything; a function it would call, in every call of what is patched.
        self._active = [True]
        self.installed = wrapt.FunctionWrapper(self._original, wrapper, enabled=self._active)  # type: ignore[arg-type]
        setattr(self._parent, self._attribute, self.installed)

    def is_on(self, parent: Any, attribute: str) -> bool:
        return self._parent is parent and self._attribute == attribute

    def undo(self) -> bool:
        """Take the patch away; False if it could only be disabled because another one lies on top."""
        self._active.clear()
        if vars(self._parent).get(self._attribute) is not self.installed:
            return False
        if self._was_there:
            setattr(self._parent, self._attribute, self._original)
        else:
            delattr(self._parent, self._attribute)
        return True


class PatchSet:
    """Patches that are made one by one and undone together."""

    def __init__(self) -> None:
        self._patches: list[Patch] = []
        self._others: list[tuple[str, Callable[[], object]]] = []
        # Two threads may import two modules whose hooks patch the same class.
        self._lock = threading.Lock()

    @property
    def points(self) -> list[str]:
        """`module:Class.attribute` of everything patched, oldest first, and what else was put in place."""
        return [patch.point for patch in self._patches] + [point for point, _ in self._others]

    def wrap(self, module: ModuleType, path: str, wrapper: Wrapper) -> None:
        """Wrap `path` ("Class.method") of `module`.

        A no-op where this set has wrapped the same attribute of the same object already, under this or
        another name: `httpx2.alias_httpx()` makes `httpx` *be* httpx2.

        Raises:
            AttributeError: the module has no such attribute.
        """
        import wrapt

        with self._lock:
            try:
                parent, attribute, _ = wrapt.resolve_path(module, path)
            except Exception as error:
                raise AttributeError(f"{module.__name__} has no {path}") from error
            if any(patch.is_on(parent, attribute) for patch in self._patches):
                return
            self._patches.append(Patch(module, path, wrapper))

    def on_undo(self, point: str, undo: Callable[[], object]) -> None:
        """Note what was put in place otherwise (a handler registered with its library), and what takes it
        away; `point` is what it is shown as."""
        with self._lock:
            self._others.append((point, undo))

    def undo(self) -> list[str]:
        """Undo all, newest first. Returns the points that another wrapper covers: those stay, disabled."""
        with self._lock:
            for point, undo in reversed(self._others):
                with guard(f"undoing {point}"):
                    undo()
            left = [patch.point for patch in reversed(self._patches) if not patch.undo()]
            self._patches.clear()
            self._others.clear()
            return left


__all__ = ["Patch", "PatchSet", "Wrapper"]
