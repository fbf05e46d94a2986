"""Classes by name, and which of them a log may name."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from lctl.session.faithful.tables import Unfaithful

#: Of the standard library: modules that do something when they are imported.
_NEVER = frozenset({"antigravity", "this", "idlelib", "turtledemo", "turtle", "test", "lib2to3", "__main__"})


def name_of(cls: type) -> str:
    """`package.module:Outer.Class`."""
    return f"{cls.__module__}:{cls.__qualname__}"


def checked_name(cls: type) -> str:
    """The name by which `find` gives `cls` again.

    Raises:
        Unfaithful: it is defined within a function, or its name stands for something else.
    """
    name = name_of(cls)
    try:
        found = find(name)
    except Unfaithful:
        found = None
    if found is not cls:
        raise Unfaithful(f"an instance of {name}, a class that cannot be found by its name")
    return name


def find(name: Any) -> type:
    """The class of that name.

    Raises:
        Unfaithful: there is none, or its module may not be imported on a log's word.
    """
    if type(name) is not str:
        raise Unfaithful("a class without a name")
    module, _, path = name.partition(":")
    found: Any = _module(module)
    for part in path.split("."):
        found = vars(found).get(part) if isinstance(found, type | ModuleType) else None
    if not isinstance(found, type):
        raise Unfaithful(f"an instance of {name}, of which there is no class here")
    return found


def _module(name: str) -> ModuleType:
    loaded = sys.modules.get(name)
    if isinstance(loaded, ModuleType):
        return loaded
    if not all(part.isidentifier() for part in name.split(".")) or not _is_installed(name.partition(".")[0]):
        raise Unfaithful(f"a class of {name or 'no module'}, which is not imported here")
    from importlib import import_module

    try:
        return import_module(name)
    except Exception as error:
        raise Unfaithful(
            f"a class of {name}, which cannot be imported ({type(error).__name__}: {error})"
        ) from error


def _is_installed(top: str) -> bool:
    """Whether a package is Python's own or was installed: a tool may import one only when it runs."""
    if top in _NEVER:
        return False
    if top in sys.modules or top in sys.stdlib_module_names:
        return True
    from importlib.util import find_spec

    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return False
    origin = (spec.origin or "") if spec is not None else ""
    return "site-packages" in origin or "dist-packages" in origin
