"""What stands in the place of a builtin function of a module, and is taken for it.

What replaces a builtin must not become a method where a class keeps it as an attribute (`timer =
time.perf_counter`), and must be pickled and copied as what it replaces. A bound method does that.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import MethodType, ModuleType
from typing import Any


class Home:
    """What a replacement is bound to: the module it is found in."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.name,)

    def __copy__(self) -> Home:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Home:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.name), name)

    def __repr__(self) -> str:
        return f"<module {self.name!r}>"


def like(function: Callable[..., Any], original: Any, name: str | None = None) -> Callable[..., Any]:
    """`function` with the name, module and text of `original`."""
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        try:
            setattr(function, attribute, getattr(original, attribute))
        except (AttributeError, TypeError):
            pass
    function.__annotations__ = {}  # as a builtin's: the signature says names only
    if name is not None:
        function.__name__ = name
    return function


def bound(function: Callable[..., Any], original: Any, module: ModuleType, name: str) -> MethodType:
    """`function`, whose first parameter is to be ignored, as `original` of that name in `module`."""
    made = like(function, original, name)
    if made.__module__ is None:
        made.__module__ = module.__name__
    return MethodType(made, Home(module.__name__))
