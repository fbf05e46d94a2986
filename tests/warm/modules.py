"""Modules that are loaded, and that a program finds only once it imports them."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import FrameType, ModuleType
from typing import Any

#: What the interpreter itself looks for by name as it ends, or holds on to.
_KEPT = ("threading", "encodings", "_weakrefset", "weakref", "warnings", "io", "codecs")
_NEEDED = {
    *_KEPT,
    "sys",
    "builtins",
    "__main__",
    "atexit",
    "signal",
    "_signal",
    "codecs",
    "_thread",
    "_io",
    "os",
}


class Stash:
    """Modules taken off `sys.modules`, as a finder that gives them back: with each one those that its code
    imported, in that order, so that who waits for an import sees each of them come.

    Attributes:
        modules: all of them, by name.
    """

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        self._imports: defaultdict[str, list[str]] = defaultdict(list)
        self._specs: dict[str, ModuleSpec | None] = {}
        #: By module, what it took by name from which other, and what that was.
        self._taken: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        self._known: dict[tuple[str, str], Any] = {}
        #: By package, what goes by the name of one of its modules and is something else.
        self._shadowed: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self._before: dict[str, ModuleType] = {}
        self._whole: dict[str, set[str]] = {}
        self._itself = self  # once it is frozen, nothing takes it apart

    def load(self, names: Iterable[str]) -> None:
        """Import those that are installed, and put them away with all that came with them.

        Args:
            names: modules, or `module:attribute` of one that loads what it has only when it is asked for.
        """
        before = set(sys.modules)
        self._before = {name: sys.modules[name] for name in before if name.partition(".")[0] not in _NEEDED}
        real = builtins.__import__
        by_name = importlib.import_module
        execute = SourceFileLoader.exec_module
        noting = builtins.__import__ = self._noting(real)
        noting_names = importlib.import_module = self._noting_names(by_name)
        SourceFileLoader.exec_module = self._executing(execute)  # type: ignore[method-assign]
        try:
            for name in names:
                _load(name)
        finally:
            builtins.__import__ = real
            importlib.import_module = by_name
            SourceFileLoader.exec_module = execute  # type: ignore[method-assign]
        come = [name for name in sys.modules if name not in before and _comes_by_import(name)]
        for name in come:
            module = self.modules[name] = sys.modules.pop(name)
            self._specs[name] = getattr(module, "__spec__", None)
        self._learn()
        self._forget({id(noting): real, id(noting_names): by_name})

    def _forget(self, ours: dict[int, Any]) -> None:
        """What they have of each other only because others had asked for it: who asks a package for a module,
        or for what it loads when it is asked, imports it. And what is of `ours`, by what it stands for."""
        for name, module in self.modules.items():
            space = vars(module)
            for own, value in list(space.items()):
                if id(value) in ours:
                    space[own] = ours[id(value)]
                elif own not in self._whole.get(name, space) and not own.startswith("__"):
                    del space[own]
        for name, module in self.modules.items():
            package, _, own = name.rpartition(".")
            if package in self.modules and vars(self.modules[package]).get(own) is module:
                del vars(self.modules[package])[own]

    def _executing(self, real: Any) -> Any:
        """As `exec_module`; of modules that load something when it is asked for, what they have before."""

        def executing(loader: Any, module: ModuleType) -> None:
            real(loader, module)
            own = sys.modules.get(module.__name__, module)  # some put another one in their place
            if "__getattr__" in vars(own) or hasattr(type(own), "__getattr__"):
                self._whole[module.__name__] = set(vars(own))

        return executing

    def _noting(self, real: Any) -> Any:
        """As `__import__`, of which it notes who takes what."""

        def noting(
            name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
        ) -> ModuleType:
            found: ModuleType = real(name, globals, locals, fromlist, level)
            importer = (globals or {}).get("__name__")
            if isinstance(importer, str):
                full = _resolve(name, globals, level) if level else name
                self._imports[_loading()] += [full, *(f"{full}.{item}" for item in fromlist or ())]
                self._taken[importer] |= {(full, item) for item in _names(fromlist or (), found)}
            return found

        return noting

    def _noting_names(self, real: Any) -> Any:
        """As `import_module`, likewise."""

        def noting(name: str, package: str | None = None) -> ModuleType:
            found: ModuleType = real(name, package)
            self._imports[_loading()].append(found.__name__)
            return found

        return noting

    def _learn(self) -> None:
        for name, item in set().union(*self._taken.values()):
            other = self.modules.get(name) or sys.modules.get(name)
            self._known[name, item] = vars(other).get(item) if other is not None else None
        for name, module in self.modules.items():
            package, _, own = name.rpartition(".")
            known = vars(self.modules[package]).get(own) if package in self.modules else None
            if known is not None and known is not module:
                self._shadowed[package][own] = known
        for name, imported in self._imports.items():
            shadowed = [f"{name}.{own}" for own in self._shadowed.get(name, ())]
            in_order = dict.fromkeys([*shadowed, *imported])
            self._imports[name] = [other for other in in_order if other in self.modules]

    def leave(self) -> None:
        """Take what the program has of them off `sys.modules`: that is taken apart as the program ends. So is
        what was there before, but for what the interpreter needs. Those that the program has not imported are
        not looked at: each would be a page copied."""
        for name in list(sys.modules):
            known = self.modules.get(name) or self._before.get(name)
            if known is not None and sys.modules[name] is known:
                del sys.modules[name]

    # -- as a finder and a loader -------------------------------------------------------------

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        known = self._specs[name]
        spec = ModuleSpec(name, self, origin=known.origin if known else None)  # type: ignore[arg-type]
        if known is not None:
            spec.submodule_search_locations = known.submodule_search_locations
            spec.has_location, spec.cached = known.has_location, known.cached
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        name = spec.name if spec is not None else module.__name__  # the one that is being imported
        vars(module)["__spec__"] = self._specs[name]  # some let nobody set what is theirs
        for other in self._imports.get(name, ()):
            if other not in sys.modules:
                importlib.import_module(other)
        for place, item in self._taken.get(name, ()):
            self._ask(place, item)
        vars(module).update(self._shadowed.get(name, {}))
        self._take_again(name, vars(module))

    def _ask(self, place: str, item: str) -> None:
        """For what a module loads only when it is asked for it, if that is no module itself."""
        other = sys.modules.get(place)
        if place in self._whole and other is not None and f"{place}.{item}" not in self.modules:
            getattr(other, item, None)

    def get_code(self, name: str) -> Any:
        """For who runs one of them as the main module."""
        loader: Any = self._specs[name].loader  # type: ignore[union-attr]
        return loader.get_code(name)

    def _take_again(self, name: str, space: dict[str, Any]) -> None:
        """What is another by now than when the module took it: it would have taken the other."""
        for place, item in self._taken.get(name, ()):
            known, other = self._known[place, item], sys.modules.get(place)
            now = vars(other).get(item, known) if other is not None else known
            if now is not known:
                for own in [own for own, value in space.items() if value is known]:
                    space[own] = now


def _names(taken: Iterable[str], module: ModuleType) -> Iterator[str]:
    """What `from module import TAKEN` takes."""
    for name in taken:
        if name != "*":
            yield name
        else:
            yield from getattr(module, "__all__", [own for own in vars(module) if not own.startswith("_")])


def _loading() -> str:
    """The module being loaded just now: a function that imports may be called by the code of another one."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def _comes_by_import(name: str) -> bool:
    """None that is kept, no second name of another, and in a package if in anything. CrewAI writes the whole
    space of one of its modules into that of others, the name among it."""
    package, module = name.rpartition(".")[0], sys.modules[name]
    if name.partition(".")[0] in _KEPT:
        return False
    if module.__name__ != name and sys.modules.get(module.__name__) in (None, module):
        return False
    return not package or hasattr(sys.modules.get(package), "__path__")


def _load(name: str) -> None:
    module, _, attribute = name.partition(":")
    try:
        getattr(importlib.import_module(module), attribute or "__name__")
    except Exception as error:  # not installed, or not with what else is
        sys.stderr.write(f"not warm: {name} ({type(error).__name__}: {error})\n")


def _resolve(name: str, space: dict[str, Any], level: int) -> str:
    package = space.get("__package__") or str(space["__name__"]).rpartition(".")[0]
    return importlib.util.resolve_name("." * level + name, package)
