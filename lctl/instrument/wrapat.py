"""Functions named from outside as tools: `lctl run --tool shop.tools:pay`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

from lctl.errors import UsageError
from lctl.instrument import mainscript
from lctl.instrument.hooks import on_import
from lctl.notices import tell
from lctl.session.tooling.tools import is_tool, tool

#: What was named, and why it could not be made a tool; None where it could.
named: dict[str, str | None] = {}


def parsed(spec: str) -> tuple[str, str]:
    """Module and path within it of `package.module:Class.method`.

    Raises:
        UsageError: it has not that form.
    """
    module, colon, path = spec.partition(":")
    if not colon or not all(name.isidentifier() for name in (*module.split("."), *path.split("."))):
        raise UsageError(f"--tool {spec}: it is MODULE:FUNCTION, e.g. shop.tools:pay or __main__:pay")
    return module, path


def wrap_at(spec: str, name: str | None = None) -> Callable[[], None]:
    """Make the function at `package.module:function` (or `:Class.method`) a tool, as `@lctl.tool` does.

    A module that is not imported yet is waited for, and the script itself (`__main__`) until it has
    defined the function. What other modules have taken of it (`from shop.tools import pay`) is replaced
    there, too. What is found wanting only then is said on stderr at the program's end.

    Args:
        name: what the tool is called; the function's name when None.

    Returns:
        What takes the wrapping away again.

    Raises:
        UsageError: `spec` has not that form, or the module is loaded and has no such function.
    """
    module, path = parsed(spec)
    undo: list[Callable[[], None]] = []
    named[spec] = f"{module} was never imported" if module != "__main__" else f"it defines no {path}"
    late = True

    def wrap(loaded: ModuleType) -> None:
        try:
            undo.extend(_wrapped(loaded, path, name))
            named[spec] = None
        except UsageError as error:
            if not late:
                raise UsageError(f"--tool {spec}: {error}") from None
            named[spec] = str(error)

    loaded = sys.modules.get(module)
    if module == "__main__" and path.partition(".")[0] not in vars(loaded):
        mainscript.when_defined(path, wrap)
    elif loaded is not None and not getattr(getattr(loaded, "__spec__", None), "_initializing", False):
        late = False
        wrap(loaded)
    else:
        undo.append(on_import(module, wrap).remove)

    def take_away() -> None:
        named.pop(spec, None)
        while undo:
            undo.pop()()

    return take_away


def wrap_all(specs: Iterable[str], *, quiet: bool = False) -> None:
    """`wrap_at` for each; what cannot be wrapped is said at the program's end, unless `quiet`."""
    for spec in specs:
        try:
            wrap_at(spec)
        except UsageError as error:
            named[spec] = str(error).removeprefix(f"--tool {spec}: ")
    if named and not quiet:
        import atexit

        atexit.register(_say_what_is_missing)


def _say_what_is_missing() -> None:
    for spec, why in named.items():
        if why is not None:
            tell(f"lctl: --tool {spec}: {why}; its calls are not recorded\n")


def _wrapped(module: ModuleType, path: str, name: str | None) -> list[Callable[[], None]]:
    *owners, last = path.split(".")
    owner: Any = module
    for part in owners:
        owner = vars(owner).get(part)
        if not isinstance(owner, type):
            raise UsageError(f"{module.__name__} has no class {part}{_nearest(module, part)}")
    original = vars(owner).get(last)
    if original is None:
        where = module.__name__ if owner is module else f"{module.__name__}.{owner.__name__}"
        raise UsageError(f"{where} has no {last}{_nearest(owner, last)}")
    if not callable(getattr(original, "__func__", original)) or isinstance(original, type):
        raise UsageError(f"{path} of {module.__name__} is a {type(original).__name__}, not a function")
    if is_tool(original):
        return []
    ours = tool(name=name)(original) if name else tool(original)
    setattr(owner, last, ours)
    if owner is module:
        _replace_everywhere(original, ours)

    def back() -> None:
        if vars(owner).get(last) is ours:
            setattr(owner, last, original)
        if owner is module:
            _replace_everywhere(ours, original)

    return [back]


def _replace_everywhere(old: Any, new: Any) -> None:
    """In the globals of every module that has taken it."""
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            for name in [key for key, value in list(vars(module).items()) if value is old]:
                setattr(module, name, new)


def _nearest(owner: Any, name: str) -> str:
    from difflib import get_close_matches  # 8 ms

    there = [key for key, value in vars(owner).items() if isinstance(value, FunctionType | type)]
    near = get_close_matches(name, there, 3)
    return f"; it has {', '.join(near)}" if near else ""
