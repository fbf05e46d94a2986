"""What libraries in C do past Python, of which no audit hook is told: who asks them is heard instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType

from lctl.instrument.hooks import Hook, on_import
from lctl.instrument.patches import PatchSet


class Unheard:
    """Has modules of one library tell of it, while a guard is on.

    Args:
        modules: by name.
        patch: puts what tells in place in one of them.
    """

    def __init__(self, modules: Iterable[str], patch: Callable[[ModuleType, PatchSet], None]) -> None:
        self._modules = tuple(modules)
        self._patch = patch
        self._patches = PatchSet()
        self._hooks: list[Hook] = []

    def begin(self) -> None:
        told = [on_import(name, lambda module: self._patch(module, self._patches)) for name in self._modules]
        self._hooks += told

    def end(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        self._patches.undo()
