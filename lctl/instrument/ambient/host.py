"""What the program asks of its machine: folder, host, terminal, locale, load; names of temporary files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from lctl.instrument.ambient import chance, identifiers, reads, slots
from lctl.instrument.ambient.callers import own
from lctl.instrument.hooks import Hook, on_import
from lctl.session import border
from lctl.session.sources import HOST

_getframe = sys._getframe
_hooks: list[Hook] = []
_PARENT = "os.getppid"

_FACTS = {
    "os": (
        "getcwd",
        "cpu_count",
        "getloadavg",
        "getppid",
        "getlogin",
        "get_terminal_size",
        "sched_getaffinity",
        "statvfs",
        "times",
        "uname",
    ),
    "resource": ("getrusage",),
    "socket": ("gethostname", "getfqdn"),
    "platform": ("node", "platform", "system", "machine", "release", "version", "processor"),
    "locale": ("getlocale", "getpreferredencoding"),
    "getpass": ("getuser",),
    "shutil": ("disk_usage", "get_terminal_size"),
}
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"


def install() -> None:
    _hooks[:] = [on_import(name, partial(_replace, names=names)) for name, names in _FACTS.items()]
    _hooks.append(on_import("tempfile", _replace_names))


def uninstall() -> None:
    for hook in _hooks:
        hook.remove()
    _hooks.clear()


def _replace(module: ModuleType, names: tuple[str, ...]) -> None:
    for name in names:
        original = getattr(module, name, None)
        if isinstance(original, BuiltinFunctionType | MethodType):  # the latter stands for one in a rerun
            slots.replace_builtin(module, name, partial(_builtin, f"{module.__name__}.{name}"))
        elif isinstance(original, FunctionType):
            slots.replace(module, name, _function(f"{module.__name__}.{name}", original))


def _builtin(key: str, original: Any) -> Callable[..., Any]:
    def fact(_: Any, *args: Any, **kwargs: Any) -> Any:
        frame = own(_getframe(1))
        if frame is None:
            return original(*args, **kwargs)
        return _read(key, frame, original, args, kwargs)

    return fact


def _function(key: str, original: Any) -> Callable[..., Any]:
    def fact(*args: Any, **kwargs: Any) -> Any:
        frame = own(_getframe(1))
        if frame is None:
            return original(*args, **kwargs)
        return _read(key, frame, original, args, kwargs)

    made = slots.like(fact, original)
    made.__wrapped__ = original  # type: ignore[attr-defined]
    return made


def _read(key: str, frame: Any, original: Any, args: Any, kwargs: Any) -> Any:
    """An OSError (no terminal, no such folder) is what it gave, too."""

    def real() -> Any:
        try:
            return original(*args, **kwargs)
        except OSError as error:
            return error

    found = reads.read(HOST, key, frame, real, _encoded, partial(_decoded, key))
    if isinstance(found, OSError):
        raise found
    if key == _PARENT:
        identifiers.know_parent(found, original())
    return found


def _encoded(value: Any) -> Any:
    if isinstance(value, OSError):
        return {"$error": [value.errno, value.strerror]}
    if isinstance(value, set):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


def _decoded(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        return OSError(*value["$error"])
    if isinstance(value, list):
        name = key.rpartition(".")[2]
        return _TYPES[name](value) if name in _TYPES else tuple(value)
    return value


def _usage_of_a_disk(values: list[int]) -> Any:
    return sys.modules["shutil"]._ntuple_diskusage(*values)


def _usage_of_resources(values: list[Any]) -> Any:
    return sys.modules["resource"].struct_rusage(values)


#: What is no plain tuple, by the name of the function.
_TYPES: dict[str, Callable[[list[Any]], Any]] = {
    "disk_usage": _usage_of_a_disk,
    "get_terminal_size": os.terminal_size,
    "getrusage": _usage_of_resources,
    "sched_getaffinity": set,
    "times": os.times_result,
}
if hasattr(os, "uname_result"):  # not on Windows
    _TYPES["uname"] = os.uname_result
    _TYPES["statvfs"] = os.statvfs_result


# -- temporary files ----------------------------------------------------------------------------


def _replace_names(module: ModuleType) -> None:
    """The names that `mkdtemp`, `mkstemp` and `NamedTemporaryFile` try, for the program's own files."""
    original = getattr(module, "_get_candidate_names", None)
    if original is None:
        return

    def _get_candidate_names() -> Iterator[str]:
        asking = _getframe(1)
        if not reads.active() or own(asking) is None:
            return original()  # type: ignore[no-any-return]
        given = asking.f_locals
        return _names(given.get("dir"), given.get("prefix"), given.get("suffix"))

    slots.replace(module, "_get_candidate_names", slots.like(_get_candidate_names, original))


def _names(folder: Any, prefix: Any, suffix: Any) -> Iterator[str]:
    while True:
        number = chance.numbered("tempfile")
        name = ""
        for _ in range(8):
            number, letter = divmod(number, len(_LETTERS))
            name += _LETTERS[letter]
        if border.player() is not None and all(isinstance(part, str) for part in (folder, prefix, suffix)):
            from lctl.instrument.ambient.leftovers import make_way

            make_way(os.path.abspath(os.path.join(folder, prefix + name + suffix)))  # noqa: PTH100, PTH118
        yield name
