"""Replacing functions of modules and classes so that nobody is surprised, and taking it back."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.instrument.standin import bound, like

_undo: list[Callable[[], None]] = []


def replace_builtin(module: ModuleType, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
    """Replace a builtin of `module` by `make(original)`, whose first parameter is to be ignored."""
    original = getattr(module, name, None)
    if original is None:
        return
    replace(module, name, bound(make(original), original, module, name))


def replace(owner: Any, name: str, ours: Any) -> None:
    """Set an attribute of a module or a class written in Python."""
    there = name in vars(owner)
    original = vars(owner).get(name)
    setattr(owner, name, ours)

    def undo() -> None:
        if vars(owner).get(name) is not ours:
            return  # somebody put theirs on top; ours goes on as the original does (see `active`)
        if there:
            setattr(owner, name, original)
        else:
            delattr(owner, name)

    _undo.append(undo)


def can_replace_in_types() -> bool:
    """Whether slots of types written in C can be replaced here: not without the lock that guards them."""
    enabled = getattr(sys, "_is_gil_enabled", None)
    return sys.implementation.name == "cpython" and (enabled is None or enabled())


def replace_in_type(type_: type, name: str, ours: Any) -> bool:
    """Replace a slot in the dict of a type written in C, in place: the type stays the very same object.

    False where that cannot be done. CPython only: a type's `__dict__` is a view of a dict, and the
    collector shows which.
    """
    modified = _type_modified()
    found = gc.get_referents(type_.__dict__)
    if modified is None or len(found) != 1 or type(found[0]) is not dict or name not in found[0]:
        return False
    slots: dict[str, Any] = found[0]
    if slots is vars(type_) or slots.get("__doc__") is not type_.__dict__.get("__doc__"):
        return False
    original = slots[name]
    slots[name] = ours
    modified(type_)
    if type_.__dict__[name] is not ours:  # the dict was a copy
        return False

    def undo() -> None:
        if slots.get(name) is ours:
            slots[name] = original
            modified(type_)

    _undo.append(undo)
    return True


def _type_modified() -> Callable[[type], None] | None:
    """`PyType_Modified`: makes the interpreter forget what it has cached of a type's attributes."""
    try:
        import ctypes

        function = ctypes.pythonapi.PyType_Modified
        function.argtypes = (ctypes.py_object,)
        function.restype = None
        return function
    except (ImportError, AttributeError):
        return None


def on_undo(undo: Callable[[], None]) -> None:
    """Have `undo` called with the others."""
    _undo.append(undo)


def count() -> int:
    """How many undos there are."""
    return len(_undo)


def taken_out(start: int) -> list[Callable[[], None]]:
    """The undos from the `start`th on, which are the caller's business from now on."""
    taken = _undo[start:]
    del _undo[start:]
    return taken


def undo_all() -> None:
    while _undo:
        with guard("taking back what ambient reads replaced"):
            _undo.pop()()


__all__ = [
    "can_replace_in_types",
    "count",
    "like",
    "on_undo",
    "replace",
    "replace_builtin",
    "replace_in_type",
    "taken_out",
    "undo_all",
]
