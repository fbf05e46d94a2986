"""Import hooks: call a function when a module is imported, or at once if it already is.

A small finder of our own, because a library may only be patched once it is there, importing all of
them to patch them costs tens of seconds, and importing wrapt just to be told of an import costs more
than recording may cost to set up. The module's loader keeps its type and is left as it was found:
`importlib.resources`, pickling and reloading see nothing of us.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from lctl.guard import guard
from lctl.interrupts import step_out

Callback = Callable[[ModuleType], None]


class Hook:
    """One function waiting for one module; `remove()` takes it back."""

    __slots__ = ("before", "callback", "module")

    def __init__(self, module: str, callback: Callback, before: bool) -> None:
        self.module = module
        self.callback = callback
        self.before = before

    def remove(self) -> None:
        with _lock:
            waiting = _hooks.get(self.module)
            if waiting and self in waiting:
                waiting.remove(self)
                if not waiting:
                    del _hooks[self.module]
            if not _hooks and _finder in sys.meta_path:
                sys.meta_path.remove(_finder)


# Guards `_hooks` and our place in sys.meta_path. Callbacks run outside it: they import.
_lock = threading.RLock()
_hooks: dict[str, list[Hook]] = {}
_loading: set[str] = set()  # modules whose hooks are called when their code has run
_late: list[Hook] = []  # of modules that were being imported, unseen by us, in the thread that asked


def on_import(module: str, callback: Callback, *, before: bool = False) -> Hook:
    """Have `callback(module)` called each time `module` is imported from now on.

    Args:
        module: full dotted name of the *defining* module, `openai._base_client` and not `openai`.
        callback: called after the module's code ran, in the importing thread. When the module is
            loaded already it is called before this returns; a module another thread is loading is
            waited for, and one that this thread is loading is whole when it is called. Its exceptions
            are counted by the guard and never reach the import.
        before: call it before the module's code runs, to hook what that code will import.
    """
    hook = Hook(module, callback, before)
    with _lock:
        _hooks.setdefault(module, []).append(hook)
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)
        loaded = sys.modules.get(module)
    if loaded is not None:
        if _is_loading(loaded):
            loaded = import_module(module)  # takes the module's import lock, so waits for its loading
        if before or not _is_loading(loaded):
            _call(hook, loaded)
        elif module not in _loading:  # what is in it so far is not what is to be patched
            _late.append(hook)
            _watch(loaded.__spec__)
    return hook


def _is_loading(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def settle() -> None:
    """Call the hooks of modules that were being imported when they were asked for, and are whole now."""
    for hook in list(_late):
        module = sys.modules.get(hook.module)
        if module is None or not _is_loading(module):
            try:
                _late.remove(hook)
            except ValueError:  # another thread's
                continue
            if module is not None and hook in _hooks.get(hook.module, ()):
                _call(hook, module)


def _call(hook: Hook, module: ModuleType) -> None:
    with guard(f"import hook of {hook.module}"):
        hook.callback(module)


def _fire(name: str, module: ModuleType, before: bool) -> None:
    with _lock:
        waiting = [hook for hook in _hooks.get(name, ()) if hook.before is before]
    for hook in waiting:
        _call(hook, module)


def _watch(spec: Any) -> None:
    """Be told when the import of a module ends which our finder was not asked for."""
    if type(spec) is ModuleSpec:  # of other kinds, `settle` hears with the next import
        spec.__class__ = _Watched


class _Watched(ModuleSpec):
    """A spec until importlib has said on it that its module is whole, as which it is a plain one again."""

    @property
    def _initializing(self) -> bool:
        return bool(self.__dict__.get("_initializing"))

    @_initializing.setter
    def _initializing(self, value: bool) -> None:
        self.__dict__["_initializing"] = value
        if not value:
            self.__class__ = ModuleSpec  # type: ignore[assignment]
            settle()


class _Finder:
    """First in sys.meta_path; it finds nothing itself and asks the others for what is waited for."""

    def __init__(self) -> None:
        self._asking = threading.local()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if _late:
            settle()
        if fullname not in _hooks:
            return None
        asking: set[str] = self._asking.__dict__.setdefault("names", set())
        if fullname in asking:  # another hooking finder asks all finders, us included
            return None
        asking.add(fullname)
        try:
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None)
                spec = None if finder is self or find is None else find(fullname, path, target)
                if spec is not None:
                    _tell_when_loaded(fullname, spec.loader)
                    return spec  # type: ignore[no-any-return]
            return None
        finally:
            asking.discard(fullname)


def _tell_when_loaded(name: str, loader: Any) -> None:
    """Put an `exec_module` on this one loader object that fires the hooks; it removes itself first.

    The loader may load other modules as well, all in a folder of a zip archive: hooks are for one of them.
    """
    if loader is None or isinstance(loader, type) or not hasattr(loader, "exec_module"):
        return  # namespace packages and built-in modules: never ours
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        loader.__dict__.pop("exec_module", None)
        try:
            loaded(module)
        except BaseException as error:  # of what the module does; without our lines Python hides importlib's
            step_out(error)
            raise

    def loaded(module: ModuleType) -> None:
        if getattr(module.__spec__, "name", name) != name:
            execute(module)  # somebody looked where ours is, and loaded another
            return
        _loading.add(name)
        try:
            _fire(name, module, before=True)
            execute(module)
        finally:
            _loading.discard(name)
        _fire(name, module, before=False)

    try:
        loader.exec_module = exec_module
    except AttributeError as error:  # a loader with __slots__
        guard.failed(f"import hook of {name}", error)


_finder = _Finder()
